"""Pieces of the reader of rocprof traces."""
