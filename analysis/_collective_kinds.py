"""What kinds of collectives wait for, and the bandwidth that they make of a link."""

from typing import Final

import polars as pl

from ingest.tables import Collectives

#: Kinds in which every rank needs every other: all leave together, and the one that
#: arrives last is the one that all wait for.
JOINT: Final = ("allreduce", "allgather", "reducescatter", "alltoall", "barrier")

#: Kinds in which a rank keeps its own part: all but one of n parts move.
_SHARED: Final = ("allgather", "reducescatter", "alltoall", "gather", "scatter")

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


def bus_factor(ranks: pl.Expr, kind: str = "stem") -> pl.Expr:
    """Return busbw over algbw for a kind and a number of ranks. [1]

    A `sendrecv` of a trace may be an all-to-all: it has no factor.
    Source: nccl-tests, doc/PERFORMANCE.md.

    Args:
        ranks: Ranks of the group. [1]
        kind: Column of the kind, without the marks of variants.
    """
    others = pl.when(ranks > 0).then((ranks - 1) / ranks)
    name = pl.col(kind)
    return (
        pl.when(name == "allreduce")
        .then(2 * others)
        .when(name.is_in(_SHARED))
        .then(others)
        .when(name.is_in(["broadcast", "reduce", "send", "recv"]))
        .then(1.0)
    )
