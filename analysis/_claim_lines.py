"""Which lines of failure logs an incident is made of."""

from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._host_names import host_names, spelled_alike
from analysis.incidents import IncidentEvents
from ingest.tables import Failures

#: What an event and its lines have in common.
_SPELL: Final = ("cluster", "host", "gpu_key", "source", "code")


def lines_of(frames: Frames, incident_id: str) -> pl.LazyFrame:
    """Return the rows of Failures of an incident, in the order of time.

    A line without a time belongs to every incident that has an event like it without a
    time: nothing tells them apart.

    Args:
        frames: Failures and incident events.
        incident_id: The incident.

    Returns:
        Rows of Failures with the `role` of their event.
    """
    events = frames[IncidentEvents].filter(
        IncidentEvents.incident_id.col == incident_id
    )
    wanted = events.select(
        *_SPELL, "role", first="first_ns", last="last_ns", of_run="run_id"
    ).rename({"host": "_host"})
    by = [name if name != "host" else "_host" for name in _SPELL]
    joined = _called(frames).join(wanted, on=by, nulls_equal=True).drop("_host")
    undated = pl.col("time_ns").is_null() & pl.col("first").is_null()
    within = pl.col("time_ns").is_between("first", "last").fill_null(value=False)
    same = (pl.col("run_id") == pl.col("of_run")).fill_null(value=True)
    order = ["time_ns", "boot_offset_ns", "file_id", "message", "occurrence"]
    return (
        joined.filter((within | undated) & same)
        .drop("first", "last", "of_run")
        .unique()
        .sort(order, nulls_last=True)
    )


def _called(frames: Frames) -> pl.LazyFrame:
    """Return the rows of Failures with the `_host` that events call theirs."""
    events, failures = frames[IncidentEvents], frames[Failures]
    names = host_names([events, failures])
    kept = events.select("cluster", "host").unique()
    others = names.join(kept, on=["cluster", "host"], how="anti")
    placed = spelled_alike(failures.with_columns(_told="host"), others)
    return placed.rename({"host": "_host", "_told": "host"})


def positions_in_files(failures: pl.LazyFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """Say which of the rows of its file with this message a line is.

    Args:
        failures: Rows of Failures.
        lines: Rows of `lines_of`.

    Returns:
        `file_id`, `message`, `positions` (of the lines, from zero) and `total` (rows
        of the file with this message).
    """
    alike = ["file_id", "message"]
    key = [*alike, "time_ns", "boot_offset_ns", "occurrence"]
    told = failures.join(lines.lazy().select(alike).unique(), on=alike, how="semi")
    order = ["time_ns", "boot_offset_ns", "occurrence"]
    numbered = told.select(
        *key,
        position=pl.int_range(pl.len()).over(alike, order_by=order),
        total=pl.len().over(alike),
    )
    ours = numbered.join(
        lines.lazy().select(key).unique(), on=key, how="semi", nulls_equal=True
    )
    return (
        ours.group_by(alike)
        .agg(pl.col("total").max(), positions=pl.col("position").unique().sort())
        .sort(alike)
        .collect()
    )
