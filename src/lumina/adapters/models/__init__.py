"""Language models by name: what each needs, how it is made, and what to do with one that has no tools."""
