"""The command line: `lumina ask`, `chat`, `show`, `docs`, `threads`."""
