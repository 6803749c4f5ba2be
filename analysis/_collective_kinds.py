"""What kinds of collectives wait for, and the bandwidth that they make of a link."""

from typing import Final

import polars as pl

from ingest.tables import Collectives

#: Kinds in which every rank needs every other: all leave together, and the one that
#: arrives last is the one that all wait for.
JOINT: Final = ("allreduce", "allgather", "reducescatter", "alltoall", "barrier")

#: Kinds that a name may begin with, longer before shorter.
_STEMS: Final = (*JOINT, "sendrecv", "broadcast", "reduce", "send", "recv")


def stem(kind: str = "kind") -> pl.Expr:
    """Return the kind without the marks of its variants (`_allgather_base`)."""
    letters = pl.col(kind).str.to_lowercase().str.replace_all(r"[^a-z]", "")
    return letters.str.extract(f"^({'|'.join(_STEMS)})", 1)


def is_joint() -> pl.Expr:
    """Return whether all ranks of a row's collective leave together.

    Old traces show an all-to-all as a SendRecv kernel that names no peer, and sends
    too. It is taken for an all-to-all where all ranks of the group saw equally many.
    """
    unnamed = (pl.col("stem") == "sendrecv") & Collectives.peer_rank.col.is_null()
    seen = pl.len().over("series", "participant")
    is_even = seen.min().over("series") == seen.max().over("series")
    return (~Collectives.is_p2p.col & pl.col("stem").is_in(JOINT)) | (unnamed & is_even)


def bus_factor(ranks: pl.Expr) -> pl.Expr:
    """Return busbw over algbw for a stem and a number of ranks. [1]

    Source: nccl-tests, doc/PERFORMANCE.md.
    """
    others = (ranks - 1) / ranks
    kind = pl.col("stem")
    return (
        pl.when(kind == "allreduce")
        .then(2 * others)
        .when(kind.is_in(["allgather", "reducescatter", "alltoall"]))
        .then(others)
        .when(kind.is_in(["broadcast", "reduce", "send", "recv"]))
        .then(1.0)
    )
