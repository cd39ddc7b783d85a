"""Pages of the web as text: fetched through a door, asked of robots.txt first, read in a process of its own."""
