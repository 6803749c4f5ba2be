"""Which attempt held which sampled device when: GPUs by name, nodes by host."""

from typing import Final

import polars as pl

from analysis._energy_fleet import Fleet
from analysis._energy_names import of_cluster
from analysis._energy_windows import disjoint, held_windows
from analysis._host_names import spelled_alike

_ATTEMPT: Final = ("run_id", "attempt")

_SPAN: Final = ("device", "from_ns", "to_ns", "is_shared", "is_assumed")


def held_gpus(
    allocations: pl.DataFrame,
    gpus: pl.DataFrame,
    attempts: pl.DataFrame,
    devices: pl.DataFrame,
    fleet: Fleet | None = None,
) -> pl.DataFrame:
    """Return when attempts held the GPUs that were sampled.

    Args:
        allocations: Rows of Allocations.
        gpus: Rows of Gpus.
        attempts: Rows of Attempts.
        devices: Rows of `devices_of`.
        fleet: As `held_windows` takes it.

    Returns:
        `run_id`, `attempt`, `device`, `from_ns`, `to_ns`, `is_shared`, `is_assumed`. A
        GPU that is held for a restart counts to the attempt before.
    """
    held = held_windows(allocations, gpus, devices, fleet).filter("counts")
    starts = attempts.select("run_id", "attempt", _start="start_ns").sort("_start")
    placed = held.sort("from_ns").join_asof(
        starts,
        left_on="from_ns",
        right_on="_start",
        by_left="window",
        by_right="run_id",
        strategy="backward",
        check_sortedness=False,
    )
    named = placed.rename({"window": "run_id"}).drop_nulls("run_id")
    return named.select(*_ATTEMPT, *_SPAN).with_columns(pl.col("attempt").fill_null(0))


def held_nodes(
    allocations: pl.DataFrame,
    gpus: pl.DataFrame,
    devices: pl.DataFrame,
    fleet: Fleet | None = None,
) -> pl.DataFrame:
    """Return when attempts held the nodes whose supply was sampled.

    Args:
        allocations: Rows of Allocations.
        gpus: Rows of Gpus.
        devices: Rows of `devices_of`, of nodes.
        fleet: As `held_windows` takes it.

    Returns:
        The columns of `held_gpus`. Time of two runs on a node goes to the first.
    """
    whole = fleet or Fleet.of(allocations, gpus, devices)
    known = of_cluster(allocations.drop_nulls(["host", "attempt"]), whole.devices)
    alike = spelled_alike(known.lazy(), whole.names.lazy()).collect()
    spans = alike.group_by(*_ATTEMPT, "host")
    held = spans.agg(pl.col("from_ns").min(), pl.col("to_ns").max())
    labels = held.select(_ATTEMPT).unique().sort(_ATTEMPT).with_row_index("window")
    matched = (
        held.join(labels, on=_ATTEMPT)
        .join(devices.select("device", "host"), on="host")
        .with_columns(is_assumed=pl.lit(value=False), counts=pl.lit(value=True))
    )
    cut = disjoint(
        matched.select("device", "window", "from_ns", "to_ns", "is_assumed", "counts")
    )
    return cut.join(labels, on="window").select(*_ATTEMPT, *_SPAN)


def within(held: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """Return what of the time held lies inside spans of the same attempt.

    Args:
        held: Rows of `held_gpus`.
        spans: `run_id`, `attempt`, `from_ns` and `to_ns`, sharing no time.
    """
    both = held.join(
        spans.select(*_ATTEMPT, _from="from_ns", _to="to_ns"), on=_ATTEMPT
    ).with_columns(
        from_ns=pl.max_horizontal("from_ns", "_from"),
        to_ns=pl.min_horizontal("to_ns", "_to"),
    )
    kept = both.filter(pl.col("from_ns") < pl.col("to_ns"))
    return kept.select(*_ATTEMPT, *_SPAN)
