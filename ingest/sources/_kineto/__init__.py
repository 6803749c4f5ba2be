"""Pieces of the reader of PyTorch profiler traces."""
