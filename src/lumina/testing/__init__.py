"""Doubles and suites for those who build on Lumina, public and tested like the rest."""
