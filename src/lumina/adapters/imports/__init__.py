"""Conversations that other programs have written, turned once, at the edge, into the lines of an export."""
