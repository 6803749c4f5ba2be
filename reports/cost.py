"""What was paid, and which share of it did useful work."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.attempts import Attempts
from analysis.interruptions import Interruptions
from analysis.loss_phases import LossPhases
from analysis.lost_time import LostTime
from analysis.runs import Runs
from ingest.tables import IngestedFiles, Jobs
from reports import (
    _blind_jobs,
    _ledger,
    _ledger_shown,
    _ledger_strip,
    _money_check,
    _runs,
)
from reports._ledger import Unit
from reports._ledger_shown import Shown
from reports._numbers import percent
from reports._section import Content, Figure, Scope, Section
from reports._words import listed, name, plural

#: Evidence that only bounds useful work from above.
_UPPER_BOUND: Final = "step_duration_upper_bound"

_HINT: Final = (
    "Scheduler jobs (sacct), a step log or profiler traces say which GPUs were held,"
    " and when: point gpuledger run at one of them."
)


def build(frames: Frames, scope: Scope) -> Content:
    """Return the sentence that the page is about."""
    rows = _ledger.by_run(frames, scope)
    runs = _runs.listing(frames, scope)
    if rows.is_empty():
        return Content(
            heading="No GPU time that was paid for has been found yet.",
            listings=[runs] if runs.rows else [],
            empty=_blind_jobs.hint(frames) or _HINT,
        )
    count = rows["run_id"].n_unique()
    told, unit = _ledger_shown.on_page(frames, scope)
    return Content(
        heading=_sentence(
            told,
            unit,
            count,
            unexplained_ns=_unexplained(frames, scope),
            is_bound=_is_bound(frames, scope),
        ),
        paragraphs=[*_uncounted(frames, scope), *_money_check.sentences(frames, scope)],
        figures=_figures(told, unit),
        charts=[_ledger_strip.chart(rows, told, scope)],
        listings=[runs],
    )


def _uncounted(frames: Frames, scope: Scope) -> list[str]:
    found = _runs.unpaid(frames, scope)
    if not found:
        return []
    runs = listed([name(run_id, 30) for run_id in found])
    if len(found) == 1:
        return [f"Run {runs} is in no account: nothing tells when it held its GPUs."]
    return [f"Runs {runs} are in no account: nothing tells when they held their GPUs."]


def _is_bound(frames: Frames, scope: Scope) -> bool:
    bound = scope.of_runs(frames[LostTime]).filter(
        (LostTime.basis.col == _UPPER_BOUND)
        & (LostTime.category.col == "productive")
        & (LostTime.gpu_ns.col > 0)
    )
    return not bound.collect().is_empty()


def _unexplained(frames: Frames, scope: Scope) -> int:
    """Return what stops cost whose cause is not known. [ns]"""
    stop = ["run_id", "attempt", "stop"]
    silent = Interruptions.category.col == "unattributed"
    stops = scope.of_runs(frames[Interruptions]).filter(silent).select(stop)
    phases = scope.of_runs(frames[LossPhases])
    lost = phases.join(stops.unique(), on=stop, how="semi", nulls_equal=True)
    return int(lost.select(pl.col("gpu_ns").sum()).collect().item() or 0)


def _sentence(
    found: Sequence[Shown],
    unit: Unit,
    runs: int,
    *,
    unexplained_ns: int,
    is_bound: bool,
) -> str:
    paid = _ledger_shown.together("paid", found)
    useful = _ledger_shown.of(found, "productive")
    over = f" over {plural(runs, 'run')}" if runs > 1 else ""
    most = "At most " if is_bound else ""
    head = (
        f"{paid.said_time(unit)}, {paid.usd_in_words()}{over}."
        f" {most}{useful.said_share()} did useful work."
    )
    lost = [account for account in found if account.category != "productive"]
    if not lost:
        return f"{head} Nothing is known to have gone elsewhere."
    elsewhere = _ledger_shown.together("elsewhere", lost)
    unknown = _ledger_shown.of(lost, "unattributed")
    stopped = _ledger_shown.together("stops", _of_stops(lost))
    silent_ns = min(unexplained_ns, stopped.gpu_ns)
    named_ns = elsewhere.gpu_ns - unknown.gpu_ns - silent_ns
    cause = percent(Decimal(named_ns) / elsewhere.gpu_ns)
    tail = f"{cause} of that has a cause we can name."
    if not named_ns:
        tail = "no cause can be named for any of it yet."
    return f"{head} {elsewhere.usd_in_words()} went elsewhere; {tail}"


def _of_stops(lost: Sequence[Shown]) -> list[Shown]:
    return [one for one in lost if one.category in {"restart", "recompute"}]


def _figures(found: Sequence[Shown], unit: Unit) -> list[Figure]:
    paid = _ledger_shown.together("paid", found)
    parts = _ledger_strip.by_meaning(found)
    return [
        Figure(
            paid.said_usd(),
            "paid",
            "paid",
            paid.said_time(unit),
            "GPUs held, times the time they were held, times the price of the run.",
        ),
        *[
            Figure(
                part.said_share(),
                _ledger_strip.PARTS[meaning],
                meaning,
                part.said_usd(),
                _ledger_strip.holds(meaning),
            )
            for meaning, part in parts.items()
        ],
    ]


SECTION: Final = Section(
    "cost",
    "What it cost",
    (LostTime, LossPhases, Interruptions, Runs, Attempts, IngestedFiles, Jobs),
    build,
)
