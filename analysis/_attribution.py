"""Which incident stopped which attempt: events on its nodes around its end."""

from typing import Final

import polars as pl

from analysis._failure_roles import (
    is_failure,
    is_planned_by_operator,
    role_rank,
    severity_rank,
    told_rank,
)
from ingest.times import HOUR_NS

_STOP: Final = ("run_id", "attempt", "stop")


def attribute(
    windows: pl.DataFrame,
    nodes: pl.DataFrame,
    events: pl.DataFrame,
    incidents: pl.DataFrame,
) -> pl.DataFrame:
    """Find the incident that each stop is laid to.

    Source: arXiv 2410.21680, section II: of the causes seen on a node of the job
    around its end the most severe, the others kept as co-occurring. What an operator
    wrote down is the cause, whatever else the logs tell.

    Args:
        windows: `run_id`, `attempt`, `stop`, `cluster`, `start_ns` of the attempt,
            `from_ns`, `to_ns`, and the `roles` that an incident must have.
        nodes: Nodes held: `cluster`, `host`, `run_id` and `attempt`.
        events: Rows of IncidentEvents.
        incidents: Rows of Incidents.

    Returns:
        A row for each stop with a cause: `run_id`, `attempt`, `stop`, the columns of
        its incident, `detected_ns` (the first line of its events that share time with
        the window, not before the attempt) and `other_incident_ids`.
    """
    blamed = is_failure() | is_planned_by_operator()
    causes = incidents.filter(blamed).with_columns(
        _told=told_rank("root_source"), _role=role_rank(), _severity=severity_rank()
    )
    seen = _events_in_windows(windows, nodes, events)
    signs = seen.group_by(*_STOP, "incident_id", "roles").agg(
        detected_ns=pl.max_horizontal("first_ns", "start_ns").min()
    )
    matched = signs.join(causes, on="incident_id")
    matched = matched.filter(pl.col("role").is_in(pl.col("roles")))
    order = ("_told", "_role", "_severity", "detected_ns", "incident_id")
    ranked = matched.sort(*_STOP, *order)
    others = pl.col("incident_id").slice(1).str.join(",")
    told = ranked.group_by(_STOP, maintain_order=True).agg(
        pl.exclude(*_STOP).first(), other_incident_ids=others
    )
    given = pl.when(pl.col("other_incident_ids") != "").then("other_incident_ids")
    return told.with_columns(given)


def _events_in_windows(
    windows: pl.DataFrame, nodes: pl.DataFrame, events: pl.DataFrame
) -> pl.DataFrame:
    """Pair events with the stops whose window they share time with.

    They are those of the stop's nodes and those that its run's own log tells of. An
    event without a node or a run is paired where one run alone of its cluster stopped.
    """
    place = ["cluster", "host"]
    dated = events.drop_nulls("first_ns").with_row_index("_event")
    held = nodes.select("run_id", "attempt", *place).join(
        dated.select(place).unique(), on=place, how="semi"
    )
    lost = dated.filter(pl.col("host").is_null() & pl.col("run_id").is_null())
    told = dated.filter(pl.col("run_id").is_not_null())
    attempt = ["run_id", "attempt"]
    found = [
        _meet(windows.drop("cluster").join(held, on=attempt), dated, place),
        _meet(windows, told, ["run_id"]),
        _alone(_meet(windows, lost, ["cluster"])),
    ]
    return pl.concat(found).unique([*_STOP, "_event"])


def _meet(
    windows: pl.DataFrame, events: pl.DataFrame, place: list[str]
) -> pl.DataFrame:
    """Pair windows with the events of the same place that they share time with."""
    stop = [*_STOP, "roles", "start_ns", "from_ns", "to_ns"]
    event = ["_event", "incident_id", "first_ns", "last_ns"]
    sides = (
        _by_hour(windows.select(_each(stop, place)), "from_ns", "to_ns"),
        _by_hour(events.select(_each(event, place)), "first_ns", "last_ns"),
    )
    shared = (pl.col("first_ns") <= pl.col("to_ns")) & (
        pl.col("last_ns") >= pl.col("from_ns")
    )
    pairs = sides[0].join(sides[1], on=[*place, "_hour"])
    return pairs.filter(shared).select(*stop, *event)


def _each(names: list[str], more: list[str]) -> list[str]:
    return [*names, *(name for name in more if name not in names)]


def _alone(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.filter(pl.col("run_id").n_unique().over("_event") == 1)


def _by_hour(rows: pl.DataFrame, start: str, end: str) -> pl.DataFrame:
    # they meet by hours, so that a node with many events and many stops does not pair
    # all with all; it has no influence on what is found
    hours = pl.int_ranges(pl.col(start) // HOUR_NS, pl.col(end) // HOUR_NS + 1)
    return rows.with_columns(_hour=hours).explode("_hour")
