"""Local documents: reading files, cutting them into passages, keeping them up to date, searching them."""
