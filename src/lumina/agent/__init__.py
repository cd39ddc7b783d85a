"""The search agent: from a question to a streamed answer with citations."""
