"""Pieces of the reader of Nsight Systems exports."""
