"""Collectives that need every rank of their group."""

from typing import Final

#: Kinds that no rank can finish before every rank of the group has entered.
JOINT: Final = ("allreduce", "allgather", "reducescatter", "alltoall", "barrier")
