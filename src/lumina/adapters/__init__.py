"""One module for each thing outside: search providers, documents, models. Adapters do not know each other."""
