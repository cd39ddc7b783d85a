"""Local documents as a search provider: read, cut into passages, found again."""
