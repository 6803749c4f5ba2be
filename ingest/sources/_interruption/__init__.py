"""Pieces of the reader of lists of interruptions."""
