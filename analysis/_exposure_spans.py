"""When nodes and runs were observed: spans of time with the nodes that each holds."""

from typing import Final

import polars as pl

from analysis.attempts import Attempts
from analysis.intervals import union
from ingest.times import DAY_NS

#: Columns of a span. Its length times `own` is exposure, times `nodes` node-time.
SPAN: Final = (
    "scope",
    "cluster",
    "run_id",
    "scope_id",
    "on_nodes",
    "start_ns",
    "end_ns",
    "own",
    "nodes",
)

#: Length of a week. [ns]
WEEK_NS: Final = 7 * DAY_NS

#: The epoch is a Thursday; weeks begin on Mondays (ISO 8601). [ns]
_MONDAY_NS: Final = 3 * DAY_NS

_TIMES: Final = ("start_ns", "end_ns")

_KEYS: Final = [Attempts.run_id.name, Attempts.attempt.name]


def spans(
    attempts: pl.DataFrame, nodes: pl.DataFrame, runs: pl.DataFrame
) -> pl.DataFrame:
    """Return when clusters, models of GPU and runs were observed.

    What nodes tell of (`on_nodes`) is observed where the nodes of an attempt are known;
    that a run stopped is observed in every attempt. A node that two runs share is
    observed once.

    Args:
        attempts: Rows of Attempts, their cluster known.
        nodes: Nodes held, from `held_nodes`.
        runs: Rows of Runs, which tell how many GPUs a node has, and of which model.

    Returns:
        The columns of SPAN; `nodes` is null where they cannot be counted. [ns]
    """
    counted = _counted(attempts, nodes, runs)
    unnamed = counted.filter(pl.col("named").is_null())
    models = runs.select("run_id", "gpu_model").drop_nulls()
    modelled = unnamed.drop_nulls("gpu_model")
    held = _held(nodes, ["cluster"])
    of_model = _held(nodes.join(models, on="run_id"), ["cluster", "gpu_model"])
    return pl.concat(
        [
            *_of_nodes(held, unnamed, "cluster", "cluster"),
            *_of_nodes(of_model, modelled, "gpu_model", "gpu_model"),
            _of_runs(counted.drop_nulls("named"), on_nodes=True),
            _of_runs(counted, on_nodes=False),
        ]
    )


def by_week(found: pl.DataFrame) -> pl.DataFrame:
    """Cut spans at the ends of weeks, and name each piece by its week.

    Args:
        found: Rows of `spans`.
    """
    start, end, opens = pl.col("start_ns"), pl.col("end_ns"), pl.col("opens_ns")
    lasting = found.filter(start < end)
    cut = lasting.with_columns(opens_ns=week_starts()).explode("opens_ns")
    clipped = cut.with_columns(
        start_ns=pl.max_horizontal(start, opens),
        end_ns=pl.min_horizontal(end, opens + WEEK_NS),
    )
    return clipped.with_columns(
        scope=pl.lit("week"), scope_id=week_of(pl.col("start_ns"))
    ).select(SPAN)


def week_starts() -> pl.Expr:
    """Return the starts of the weeks that a span touches, as a list. [ns]"""
    first = (pl.col("start_ns") + _MONDAY_NS) // WEEK_NS
    last = (pl.col("end_ns") - 1 + _MONDAY_NS) // WEEK_NS
    starts = (first * WEEK_NS - _MONDAY_NS, (last + 1) * WEEK_NS - _MONDAY_NS)
    return pl.int_ranges(*starts, step=WEEK_NS)


def week_of(instant: pl.Expr) -> pl.Expr:
    """Return the week of an instant as ISO 8601 names it: 2026-W49."""
    return pl.from_epoch(instant, time_unit="ns").dt.strftime("%G-W%V")


def _counted(
    attempts: pl.DataFrame, nodes: pl.DataFrame, runs: pl.DataFrame
) -> pl.DataFrame:
    """Return attempts with the nodes that are `named`, and how many there are."""
    named = nodes.group_by(_KEYS).agg(named=pl.len().cast(pl.Int64))
    told = runs.select("run_id", "gpus_per_node", "gpu_model")
    sized = attempts.join(named, on=_KEYS, how="left").join(
        told, on="run_id", how="left"
    )
    filled = Attempts.gpu_count.col + pl.col("gpus_per_node") - 1
    return sized.with_columns(
        nodes=pl.coalesce("named", filled // pl.col("gpus_per_node"))
    )


def _held(nodes: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Return how many nodes were held from when to when, each counted once."""
    merged = union(nodes.lazy(), [*by, "host"])
    alike = merged.group_by(*by, *_TIMES).agg(nodes=pl.len().cast(pl.Int64))
    return alike.collect()


def _of_nodes(
    held: pl.DataFrame, unnamed: pl.DataFrame, scope: str, scope_id: str
) -> list[pl.DataFrame]:
    """Return what named nodes tell of, and what those only counted tell of, too."""
    columns = list(dict.fromkeys(["cluster", scope_id, *_TIMES, "nodes"]))
    every = pl.concat([held.select(columns), unnamed.select(columns)])
    return [
        _finish(rows.with_columns(own="nodes"), scope, scope_id, on_nodes=on_nodes)
        for rows, on_nodes in ((held, True), (every, False))
    ]


def _of_runs(counted: pl.DataFrame, *, on_nodes: bool) -> pl.DataFrame:
    own = counted.with_columns(own=pl.lit(1, pl.Int64))
    return _finish(own, "run", "run_id", on_nodes=on_nodes)


def _finish(
    rows: pl.DataFrame, scope: str, scope_id: str, *, on_nodes: bool
) -> pl.DataFrame:
    run_id = pl.col("run_id") if scope == "run" else pl.lit(None, pl.String)
    named = rows.with_columns(
        scope=pl.lit(scope),
        scope_id=pl.col(scope_id),
        run_id=run_id,
        on_nodes=pl.lit(value=on_nodes),
    )
    return named.select(SPAN)
