"""Pieces of the readers of Prometheus samples."""
