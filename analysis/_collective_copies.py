"""The same part of a collective, seen twice: profiles that were copied, or overlap."""

from typing import Final

import polars as pl

from analysis._collective_kinds import stem

#: What a rank saw of one collective; two traces of which all that is equal saw the
#: same part of the same one.
_PART: Final = (
    *("run_id", "attempt", "rank", "device", "stream", "group_id", "kind", "is_p2p"),
    *("peer_rank", "sequence", "p2p_sequence", "bytes_total", "time_basis"),
    *("seen_ns", "start_ns", "end_ns", "duration_ns"),
)

_KEPT: Final = "_kept_in"


def without_copies(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Keep each part of a collective once, from the first trace that holds it.

    Only what names its rank and tells a time can be known to be the same.

    Args:
        rows: What ranks saw of collectives, with an attempt and `seen_ns`.
    """
    return _marked(rows).filter(pl.col("trace_id") == pl.col(_KEPT)).drop(_KEPT)


def with_copies(waits: pl.LazyFrame, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Give the parts that were left out what is known of the part that was kept.

    Args:
        waits: Rows of `without_copies`, and what is known of each.
        rows: The rows that `without_copies` was given.

    Returns:
        The waits of all parts, each in its own trace.
    """
    # the kind of a send and its receive is one by now: the stem is not
    left_out = _marked(rows).filter(pl.col("trace_id") != pl.col(_KEPT))
    part = [*(name for name in _PART if name != "kind"), "stem", _KEPT]
    named = left_out.with_columns(stem=stem()).select(*part, _copy="trace_id")
    kept = waits.with_columns(pl.col("trace_id").alias(_KEPT))
    copies = kept.join(named.unique(), on=part, nulls_equal=True)
    columns = pl.exclude(_KEPT, "_copy")
    own = copies.with_columns(trace_id="_copy").select(columns)
    return pl.concat([waits, own], how="diagonal")


def _marked(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Name the trace that each part is kept from."""
    known = pl.col("rank").is_not_null() & pl.col("seen_ns").is_not_null()
    first = pl.col("trace_id").min().over(_PART)
    return rows.with_columns(
        pl.when(known).then(first).otherwise("trace_id").alias(_KEPT)
    )
