"""The command line: ask, chat, show, threads, docs. Each command imports what it needs when it runs."""
