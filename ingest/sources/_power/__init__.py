"""Pieces of the readers of power tools."""
