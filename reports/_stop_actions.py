"""What stopped a run in words, how bad it was, and what to do about it."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis._failure_roles import is_planned_by_operator, severity_rank
from analysis.incidents import IncidentEvents, Incidents
from reports import _code_words
from reports._words import name, said

#: Actions of a catalogue that tell nobody to do anything.
_NO_ACTIONS: Final = ("none", "follow_other_code")


def told(stops: pl.DataFrame, frames: Frames) -> pl.DataFrame:
    """Return stops with what is known of the incidents that they are laid to.

    Where the root code has no action, as one that an operator wrote down, it is that of
    the worst code that came with it.

    Args:
        stops: Rows of Interruptions.
        frames: Incidents and their events.

    Returns:
        The rows with root_source, root_code, meaning, severity, action, host,
        host_count, first_ns and is_planned_work of their incident.
    """
    ours = stops.lazy().select("incident_id").drop_nulls().unique()
    events = (
        frames[IncidentEvents]
        .join(ours, on="incident_id", how="semi")
        .filter(_tells())
        .sort(severity_rank(), "first_ns", "code", nulls_last=True)
        .group_by("incident_id", maintain_order=True)
        .agg(of_events=pl.col("action").first())
    )
    incidents = (
        frames[Incidents]
        .join(ours, on="incident_id", how="semi")
        .join(events, on="incident_id", how="left")
        .select(
            *("incident_id", "root_source", "root_code", "severity"),
            *("host", "host_count", "first_ns"),
            meaning="name",
            action=pl.coalesce(pl.when(_tells()).then("action"), "of_events"),
            is_planned_work=is_planned_by_operator(),
        )
    )
    return stops.join(
        incidents.collect(), on="incident_id", how="left", maintain_order="left"
    )


def _tells() -> pl.Expr:
    return pl.col("action").is_not_null() & ~pl.col("action").is_in(_NO_ACTIONS)


def cause(row: Mapping[str, Any]) -> str:
    """Return what stopped a run, as people say it.

    Args:
        row: A row of `told`.
    """
    found = str(row["cause"] or "not known")
    if found.startswith("hang: "):
        return found
    if row["root_code"]:
        root = row["root_source"], row["root_code"]
        found = _code_words.with_meaning(*root, row["meaning"])
    if not row["suspect_ranks"]:
        return found
    return f"{found} (it hung; suspected: {row['suspect_ranks']})"


def whose(row: Mapping[str, Any]) -> str:
    """Return where the cause of a stop lies; work that was planned is maintenance.

    Args:
        row: A row of `told`.
    """
    if not row["planned"]:
        return said(str(row["category"]))
    if row["is_planned_work"] or row["category"] == "unattributed":
        return "planned work"
    return f"{said(str(row['category']))} (planned)"


def to_do(row: Mapping[str, Any]) -> str:
    """Return how bad the root code is, and what its catalogue says to do.

    Args:
        row: A row of `told`.
    """
    bad = said(row["severity"]) if row["severity"] else "not known"
    return f"{bad}: {said(name(row['action']))}" if row["action"] else bad
