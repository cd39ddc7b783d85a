"""Readers of the public sets' own file formats, and of a plain format for conversations of your own."""
