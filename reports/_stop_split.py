"""Whose stops were, what planned ones cost beside the others, and what others lost."""

from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.attempts import Attempts
from ingest.tables import Jobs
from reports import _loss_shown
from reports._claim_facts import CLAIMABLE
from reports._numbers import grouped
from reports._partly import partly
from reports._section import Scope
from reports._words import listed, plural, said
from reports.dollars import dollars, in_words

#: What people do, and not machines.
_USERS: Final = ("user", "human")

#: Roles of incidents that are no causes: in words, of one and of many.
_APART: Final = {
    "user": ("user error", "user errors"),
    "cascade": ("cascade", "cascades"),
    "symptom": ("symptom", "symptoms"),
}


def whose(stops: pl.DataFrame) -> str:
    """Say how many unplanned stops are of users, of machines and of others.

    Args:
        stops: Rows of Interruptions.
    """
    unplanned = stops.filter(~pl.col("planned"))
    if unplanned.is_empty():
        return ""
    counts = dict(unplanned["category"].value_counts().iter_rows())
    users = sum(counts.get(one, 0) for one in _USERS)
    machines = sum(counts.get(one, 0) for one in CLAIMABLE)
    rest = [
        f"{grouped(count)} {said(category)}"
        for category, count in sorted(counts.items())
        if category not in (*_USERS, *CLAIMABLE)
    ]
    others = f"; of neither: {listed(rest, 4)}" if rest else ""
    return (
        f"Users against infrastructure: {plural(users, 'stop')} by users,"
        f" {grouped(machines)} by infrastructure ({listed(CLAIMABLE)}){others}."
    )


def apart(incidents: pl.DataFrame) -> str:
    """Say how many incidents are no root causes, by what they are.

    Args:
        incidents: Rows of Incidents.
    """
    counts = dict(incidents["role"].value_counts().iter_rows())
    told = [plural(counts.get(role, 0), *words) for role, words in _APART.items()]
    if not any(counts.get(role, 0) for role in _APART):
        return "no user error, cascade or symptom beside them"
    return f"{listed(told)} are not among them"


def planned(phases: pl.DataFrame, scope: Scope) -> str:
    """Say what unplanned and planned stops cost; nothing where none was planned.

    Args:
        phases: Rows of LossPhases.
        scope: The prices.
    """
    own = phases.filter(pl.col("stop").is_not_null() & pl.col("account").is_not_null())
    if own.filter("planned").is_empty():
        return ""
    texts = [
        _cost(own.filter(pl.col("planned") == is_planned), scope)
        for is_planned in (False, True)
    ]
    return f"Unplanned stops cost {texts[0]}, planned ones {texts[1]}."


def _cost(rows: pl.DataFrame, scope: Scope) -> str:
    sums = rows.group_by("run_id").agg(pl.col("gpu_ns").cast(pl.Int128).sum())
    usd = sum(
        (dollars(ns, scope.price(run)) for run, ns in sums.iter_rows()), Decimal()
    )
    stops = rows.select("run_id", "attempt", "stop").n_unique()
    is_whole = not rows["gpu_ns"].null_count()
    words = partly(in_words(usd), has_known=usd > 0, is_whole=is_whole)
    return f"{words} ({grouped(stops)})"


def second_order(phases: pl.DataFrame, frames: Frames, scope: Scope) -> str:
    """Say what restarts cost others, and that it was looked for where it is nothing.

    Args:
        phases: Rows of LossPhases.
        frames: Jobs and attempts.
        scope: The prices.
    """
    found = _loss_shown.second_order(phases, scope)
    if found or phases["stop"].drop_nulls().is_empty():
        return found
    own = frames[Attempts].select("job_id").drop_nulls().unique()
    others = frames[Jobs].join(own, on="job_id", how="anti").select(pl.len())
    count = int(others.collect().item())
    if not count:
        return (
            "Second-order cost: not known; no job list here tells of jobs of others"
            " that may have had to make room."
        )
    return (
        f"Second-order cost: looked, none; {plural(count, 'job')} of others in the job"
        " list, and none had to make room for a restart."
    )
