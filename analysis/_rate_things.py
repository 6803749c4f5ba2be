"""What there is to count: lines, events, incidents and interruptions by cause."""

from typing import Final

import polars as pl

from analysis._failure_roles import is_failure
from analysis._incident_chains import CONSEQUENCES

#: Category of incidents that no more than notices tell of, and of interruptions that
#: were meant. They have rows of their own and are no part of `all`.
NOTICE: Final = "notice"
PLANNED: Final = "planned"

_ONE: Final = pl.lit(1, pl.Int64)

_THING: Final = (
    "level",
    "cluster",
    "run_id",
    "host",
    "category",
    "component",
    "amount",
    "is_repeated",
    "time_ns",
)


def things(
    events: pl.DataFrame,
    incidents: pl.DataFrame,
    interruptions: pl.DataFrame,
    attempts: pl.DataFrame,
) -> pl.DataFrame:
    """Return what is counted, a row for each thing, run and node that it concerns.

    Args:
        events: Rows of IncidentEvents.
        incidents: Rows of Incidents.
        interruptions: Rows of Interruptions.
        attempts: Rows of Attempts, their cluster known.
    """
    role = pl.col("role")
    is_consequence = role.is_in(CONSEQUENCES)
    told = events.with_columns(
        category=pl.when(is_consequence).then(role).otherwise("category"),
        is_repeated=pl.lit(value=False),
        time_ns=pl.col("first_ns"),
    )
    rows = [
        told.with_columns(level=pl.lit("line"), amount=pl.col("lines")),
        told.with_columns(level=pl.lit("event"), amount=_ONE),
        _incidents(incidents, events),
        _interruptions(interruptions, incidents, attempts),
    ]
    return pl.concat([row.select(_THING) for row in rows])


def _incidents(incidents: pl.DataFrame, events: pl.DataFrame) -> pl.DataFrame:
    """Pair incidents with the runs that their events fell on; null where on none."""
    held = events.select("incident_id", "run_id").drop_nulls().unique()
    pairs = incidents.join(held, on="incident_id", how="left").sort("run_id")
    number = pl.int_range(pl.len()).over("incident_id")
    counted = pl.when(is_failure()).then("category").otherwise(pl.lit(NOTICE))
    return pairs.with_columns(
        level=pl.lit("incident"),
        category=counted,
        amount=_ONE,
        is_repeated=number > 0,
        time_ns=pl.col("first_ns"),
    )


def _interruptions(
    interruptions: pl.DataFrame, incidents: pl.DataFrame, attempts: pl.DataFrame
) -> pl.DataFrame:
    clusters = attempts.select("run_id", "attempt", "cluster")
    hosts = incidents.select("incident_id", "host")
    category = pl.when("planned").then(pl.lit(PLANNED)).otherwise("category")
    return (
        interruptions.join(clusters, on=["run_id", "attempt"])
        .join(hosts, on="incident_id", how="left")
        .with_columns(
            level=pl.lit("interruption"),
            category=category,
            amount=_ONE,
            is_repeated=pl.lit(value=False),
            time_ns=pl.coalesce("decided_ns", "detected_ns", "last_step_end_ns"),
        )
    )
