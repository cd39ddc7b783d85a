"""What a store does in a transaction, as plain functions over a SQLAlchemy connection."""
