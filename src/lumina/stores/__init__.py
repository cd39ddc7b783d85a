"""Where threads are kept: SQLite, and the same in memory."""
