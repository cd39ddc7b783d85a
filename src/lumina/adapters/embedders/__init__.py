"""Embedders: one module for each way to make vectors of text."""
