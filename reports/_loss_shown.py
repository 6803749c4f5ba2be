"""What interruptions cost, phase by phase, as it stands on the page."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.loss_phases import PHASES, LossPhases
from reports import _ledger, _ledger_shown
from reports._ledger import Account
from reports._numbers import duration
from reports._partly import partly
from reports._section import Scope
from reports._words import plural
from reports.dollars import NS_PER_GPU_HOUR, dollars, in_words

#: What each phase is, in a line.
WORDS: Final = {
    "hang": "last completed step to the first sign in a log",
    "detect": "first sign to the end of the attempt",
    "decide": "end of the attempt to its resubmission",
    "requeue": "resubmission to the next start",
    "start": "start to the first new step",
    "recompute": "steps done again",
}


def rows_of(frames: Frames, scope: Scope) -> pl.DataFrame:
    """Return the phases of the runs on the page, in order of the key.

    Args:
        frames: The tables.
        scope: Runs of the page.
    """
    return scope.of_runs(frames[LossPhases]).sort(LossPhases.key).collect()


def of_stops(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the phases of unplanned interruptions that the run itself paid for."""
    return rows.filter(
        ~pl.col("planned"),
        pl.col("stop").is_not_null(),
        pl.col("account").is_not_null(),
    )


def unknown(rows: pl.DataFrame) -> dict[str, int]:
    """Return of how many stops it is not known what each phase cost.

    Args:
        rows: Rows of `of_stops`.
    """
    blank = rows.filter(pl.col("gpu_ns").is_null())
    return dict(blank.group_by("phase").agg(pl.len()).iter_rows())


def accounts(rows: pl.DataFrame, scope: Scope) -> list[Account]:
    """Return what each phase cost, as far as it is known, in the order of phases.

    Args:
        rows: Rows of `of_stops`.
        scope: The prices.
    """
    sums = rows.group_by("run_id", "phase").agg(pl.col("gpu_ns").cast(pl.Int128).sum())
    found = {phase: Account(phase, 0, Decimal()) for phase in WORDS}
    for run_id, phase, gpu_ns in sums.sort("run_id", "phase").iter_rows():
        cost, old = dollars(gpu_ns, scope.price(run_id)), found[phase]
        found[phase] = Account(phase, old.gpu_ns + gpu_ns, old.usd + cost)
    seen = set(rows["phase"])
    return [found[phase] for phase in PHASES if phase in seen]


def numbers(rows: pl.DataFrame, found: Sequence[Account]) -> pl.DataFrame:
    """Return, for each phase, how often it is known, mean, median and what it cost.

    What it cost is null where that is known of no stop.

    Args:
        rows: Rows of `of_stops`.
        found: What `accounts` returns.
    """
    took = pl.col("duration_ns")
    each = rows.group_by("phase").agg(
        stops=pl.len().cast(pl.Int64),
        known=took.count().cast(pl.Int64),
        mean_s=took.mean() / 1e9,
        median_s=took.median() / 1e9,
        costed=pl.col("gpu_ns").count().cast(pl.Int64),
    )
    hours = [float(Decimal(one.gpu_ns) / NS_PER_GPU_HOUR) for one in found]
    order = pl.DataFrame(
        {
            "phase": [one.category for one in found],
            "gpu_hours": hours,
            "usd": [float(one.usd) for one in found],
        },
        schema={"phase": pl.String, "gpu_hours": pl.Float64, "usd": pl.Float64},
    )
    told = order.join(each, on="phase", how="left", maintain_order="left")
    cost = pl.when(pl.col("costed") > 0).then(pl.col("gpu_hours", "usd"))
    return told.select(
        *["phase", "stops", "known", "mean_s", "median_s", "costed"],
        cost.name.keep(),
    )


def cost(rows: pl.DataFrame, scope: Scope) -> str:
    """Say what unplanned interruptions cost, and in which phase most of it.

    Args:
        rows: Rows of LossPhases.
        scope: The prices.
    """
    stops = of_stops(rows)
    found, is_whole = accounts(stops, scope), not unknown(stops)
    if not any(one.gpu_ns for one in found):
        return "" if is_whole else " What they cost is not known."
    shown = _ledger_shown.shown(found, _ledger.unit_for(_ledger.paid(found).gpu_ns))
    lost = _ledger_shown.together("lost", shown)
    most = max(shown, key=lambda one: one.gpu_ns)
    share = f"{most.said_share()} of it in the phase {most.category}"
    usd = partly(lost.said_usd(), has_known=True, is_whole=is_whole)
    return f" Lost: {usd}, {share}."


def second_order(rows: pl.DataFrame, scope: Scope) -> str:
    """Say what restarts cost others, nothing where no job had to make room.

    Args:
        rows: Rows of LossPhases.
        scope: The prices.
    """
    others = rows.filter(pl.col("phase") == "second_order")
    if others.is_empty():
        return ""
    sums = others.group_by("run_id").agg(pl.col("gpu_ns").cast(pl.Int128).sum())
    usd = sum(
        (dollars(ns, scope.price(run)) for run, ns in sums.iter_rows()), Decimal()
    )
    jobs = int(others["jobs_preempted"].sum())
    gpu_ns = int(others["gpu_ns"].cast(pl.Int128).sum())
    made_room = (
        f"Second-order cost: {plural(jobs, 'job')} of others had to make room for a"
        " restart"
    )
    unsized = int(others["jobs_unsized"].fill_null(0).sum())
    if unsized and not gpu_ns:
        return f"{made_room}; what they lost is not known: nothing tells their size."
    words = f"{duration(gpu_ns)} of GPU time ({in_words(usd)})"
    lost = partly(words, has_known=True, is_whole=not unsized)
    return (
        f"{made_room} and lost {lost}, half an hour each where they ran so long (an"
        " hourly checkpoint is assumed, arXiv 2410.21680)."
    )


def beside(rows: pl.DataFrame, scope: Scope) -> str:
    """Say what the ledger's restart and recompute hold beside unplanned stops.

    Args:
        rows: Rows of LossPhases.
        scope: The prices.
    """
    booked = rows.filter(pl.col("account").is_in(["restart", "recompute"]))
    mine = of_stops(booked).select(LossPhases.key)
    rest = booked.join(mine, on=LossPhases.key, how="anti", nulls_equal=True)
    sums = rest.group_by("run_id").agg(pl.col("gpu_ns").cast(pl.Int128).sum())
    usd = sum(
        (dollars(ns, scope.price(run)) for run, ns in sums.iter_rows()), Decimal()
    )
    if not usd:
        return ""
    return (
        f"{in_words(usd)} more of the ledger's restart and recompute are first starts,"
        " planned stops and what came after a run's last step."
    )
