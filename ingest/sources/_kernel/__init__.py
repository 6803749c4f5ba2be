"""Pieces of the readers of kernel messages."""
