"""Pieces of the readers of NCCL's files."""
