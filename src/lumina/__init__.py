"""Lumina: a search agent that cites its sources, with a memory that stays right and can be read."""
