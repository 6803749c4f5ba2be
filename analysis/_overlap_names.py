"""What kernels that communicate do, and for which group of ranks."""

from typing import Final

import polars as pl

from analysis._collective_kinds import stem
from analysis._overlap_axes import UNKNOWN
from analysis._overlap_windows import DEVICE
from analysis.intervals import END, START
from ingest.communication import collective_kind
from ingest.tables import Collectives, Kernels

#: Columns that say what a kernel communicates; null for compute.
WHO: Final = ("kind", "parallel_kind", "group_id")

#: Sends and receives are one kind: a kernel that does either may do both.
_PAIR: Final = "sendrecv"

_EVENT: Final = ("run_id", "trace_id", "event", START)


def named_intervals(kernels: pl.LazyFrame) -> pl.LazyFrame:
    """Return compute and communication as intervals, with what names them.

    Args:
        kernels: Rows of Kernels. The trace tells devices apart: the attempt is null.
    """
    start = Kernels.start_ns.col
    work = kernels.filter(Kernels.category.col != "memory")
    return work.select(
        *[name for name in DEVICE if name != "attempt"],
        start,
        (start + Kernels.duration_ns.col).alias(END),
        *("category", "linked", "event", "name"),
        attempt=pl.lit(None, pl.Int32),
    )


def with_names(
    rows: pl.DataFrame, collectives: pl.LazyFrame, axes: pl.DataFrame
) -> pl.DataFrame:
    """Fill the columns of WHO for the kernels that communicate.

    A kernel finds its row of Collectives by trace, event and start. Without one, its
    name tells the kind, and nothing its group.

    Args:
        rows: Work with `run_id`, `trace_id`, `event`, `start_ns`, `name`, `category`.
        collectives: Rows of Collectives.
        axes: What groups are for, from `axes_of_groups`.
    """
    talks = pl.col("category") == "communication"
    talking = rows.filter(talks)
    told = talking.join(
        _collectives_of(talking, collectives), on=list(_EVENT), how="left"
    ).join(axes, on=["run_id", "group_id"], how="left", nulls_equal=False)
    named = told.with_columns(
        kind=pl.coalesce(_kind("kind"), _kind_of_name(), pl.lit(UNKNOWN)),
        parallel_kind=pl.coalesce("parallel_kind", pl.lit(UNKNOWN)),
        group_id=pl.coalesce("group_id", pl.lit(UNKNOWN)),
    )
    silent = rows.filter(~talks).with_columns(
        pl.lit(None, pl.String).alias(name) for name in WHO
    )
    return pl.concat([silent, named.select(silent.columns)])


def _collectives_of(talking: pl.DataFrame, collectives: pl.LazyFrame) -> pl.DataFrame:
    """Return the rows of Collectives that may belong to kernels, one for each event."""
    traces, starts = talking["trace_id"], talking[START]
    trace = Collectives.trace_id.col.is_between(
        pl.lit(traces.min(), pl.String), pl.lit(traces.max(), pl.String)
    )
    time = Collectives.start_ns.col.is_between(
        pl.lit(starts.min(), pl.Int64), pl.lit(starts.max(), pl.Int64)
    )
    found = collectives.filter(trace & time).select(*_EVENT, "kind", "group_id")
    rows = found.collect(engine="streaming")
    return rows.sort(*_EVENT, "group_id", "kind").unique(_EVENT, keep="first")


def _kind(column: str) -> pl.Expr:
    """Return a kind without the marks of its variants; sends and receives are one."""
    found = pl.coalesce(stem(column), pl.col(column))
    is_pair = found.is_in(["send", "recv", _PAIR])
    told = pl.when(is_pair).then(pl.lit(_PAIR)).otherwise(found)
    return pl.when(told != UNKNOWN).then(told)


def _kind_of_name() -> pl.Expr:
    kind = collective_kind(pl.col("name"))
    is_pair = kind.is_in(["send", "recv"])
    return pl.when(is_pair).then(pl.lit(_PAIR)).otherwise(kind)
