"""GPUs that make the others wait."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.late_ranks import LateRanks
from analysis.rank_hours import RankHours
from analysis.replays import ReplayCells, Replays
from analysis.runs import Runs
from analysis.section_scores import SectionScores
from analysis.step_rollups import StepRollups
from analysis.stragglers import (
    StragglerEvidence,
    StragglerRanks,
    StragglerSteps,
    StragglerTests,
)
from ingest.tables import StepTimings
from reports import (
    _episode_strip,
    _runs,
    _slow_evidence,
    _slow_ranks,
    _slow_replayed,
    _slow_texts,
    _work_field,
)
from reports._numbers import grouped, percent
from reports._section import Content, Scope, Section
from reports._words import name, plural, said
from reports.dollars import dollars, in_words

_HINT: Final = (
    "Own work is duration minus waiting: a step log with waits, or profiler traces of"
    " all ranks, tell which GPU the others wait for."
)


def build(frames: Frames, scope: Scope) -> Content:
    """Return which GPUs were slow, since when, and what that cost."""
    slow = (
        scope.of_runs(frames[StragglerRanks])
        .sort(
            ["lost_gpu_ns", "run_id", "scope_id", "first_step"],
            descending=[True, False, False, False],
        )
        .collect()
    )
    tests = scope.of_runs(frames[StragglerTests]).sort("run_id").collect()
    tested = tests.filter(pl.col("verdict") == "tested")
    is_told = bool(slow.height or tested.height)
    named = "" if is_told else _slow_replayed.heading(tests, frames, scope)
    scored = _slow_evidence.scores(frames, scope)
    charts = [
        *(_episode_strip.chart(frames, slow, scope) if is_told else []),
        *_work_field.chart(frames, scope),
        *_slow_ranks.ranking(slow, scope),
    ]
    is_short = bool(scored) and not (charts or is_told or named)
    listings = [_slow_ranks.listing(slow, scope)] if slow.height else []
    return Content(
        heading=named or _heading(slow, tests, frames, scope),
        paragraphs=[
            *(_slow_replayed.paragraphs(tests, frames, scope) if named else []),
            *_slow_texts.paragraphs(slow, tests, frames, scope),
            *([_hint(tests, scope)] if is_short else []),
        ],
        charts=charts,
        listings=[
            *listings,
            *_slow_evidence.evidence(frames, slow, scope),
            *scored,
        ],
        empty=None if charts or is_told or scored or named else _hint(tests, scope),
    )


def _hint(tests: pl.DataFrame, scope: Scope) -> str:
    if _slow_texts.FEW_STEPS in tests["verdict"]:
        steps = plural(_slow_ranks.fewest_steps(scope), "step")
        return (
            f"A test takes {steps} with waits: a step log, or profiles of all ranks"
            " over more steps."
        )
    return _HINT


def _heading(
    slow: pl.DataFrame, tests: pl.DataFrame, frames: Frames, scope: Scope
) -> str:
    if slow.height:
        return _finding(slow, frames, scope)
    tested = tests.filter(pl.col("verdict") == "tested")
    smallest = tested["smallest_visible_ratio"].drop_nulls()
    if tested.is_empty():
        return "Whether a GPU was slow cannot be told."
    if smallest.is_empty():
        return "No GPU was slower than its peers."
    seen = percent(float(str(smallest.max())) - 1)
    return (
        "No GPU was slower than its peers; the smallest slowdown we could have seen"
        f" is {seen}."
    )


def _finding(slow: pl.DataFrame, frames: Frames, scope: Scope) -> str:
    first = slow.row(0, named=True)
    cause = said(first["cause"])
    under = "" if cause == "unknown" else f" under {name(cause)}"
    usd = dollars(int(first["lost_gpu_ns"]), scope.price(first["run_id"]))
    days = _runs.days_of(frames, scope, first["run_id"])
    cost = f"{in_words(usd / days)} a day" if days and days >= 1 else in_words(usd)
    more = slow.height - 1
    beside = f" {plural(more, 'more', 'more')} beside it." if more else ""
    slower = percent(first["slowdown_ratio"] - 1)
    return (
        f"{_slow_ranks.who(first)} ran {slower} slow from step"
        f" {grouped(first['first_step'])} to {grouped(first['last_step'])}"
        f"{under}: {cost}.{beside}"
    )


SECTION: Final = Section(
    "stragglers",
    "Slow GPUs",
    (
        StragglerRanks,
        StragglerTests,
        StragglerSteps,
        StragglerEvidence,
        SectionScores,
        LateRanks,
        Replays,
        ReplayCells,
        StepTimings,
        StepRollups,
        RankHours,
        Gpus,
        Runs,
        Attempts,
    ),
    build,
)
