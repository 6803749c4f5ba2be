"""Pieces of the readers of Slurm's outputs and logs."""
