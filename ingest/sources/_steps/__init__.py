"""Pieces of the readers of step logs."""
