"""Sentences on slow GPUs: what was tested, what not, and what else speaks for it."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.late_ranks import LateRanks
from analysis.stragglers import StragglerSteps
from reports import _ledger
from reports._numbers import compact, grouped
from reports._section import Scope
from reports._words import listed, name, plural

#: Verdict on a run that was seen too briefly.
FEW_STEPS: Final = "too_few_steps"

_VERDICTS: Final = {
    "no_waits": "it has step durations without waits, and in a synchronous step"
    " everyone's duration is the same",
    "too_few_peers": "its ranks have fewer than four peers",
    FEW_STEPS: "its steps are too few for a test",
    "no_steps": "it has no step timings",
    "unlike_traces": "several traces of unlike ranks are in it: give each a folder with"
    " a run.toml",
}


_SOURCES: Final = {
    "step_timings": "a step log that tells waits",
    "traces": "traces of kernels and collectives",
    "operations": "traces of operations: passes and the optimizer",
    "collectives": "collectives alone, by when ranks arrive",
    "none": "nothing that tells waits",
}


def paragraphs(
    slow: pl.DataFrame, tests: pl.DataFrame, frames: Frames, scope: Scope
) -> list[str]:
    """Return what was tested, what could not be, and what scatter and collectives say.

    Args:
        slow: Rows of StragglerRanks.
        tests: Rows of StragglerTests.
        frames: The tables.
        scope: Runs of the page.
    """
    said_of = [_tested(tests), *_sources(tests), _untestable(tests)]
    said_of.append(_jitter(tests, frames, scope))
    if slow.height:
        said_of.append(
            "The cost is a counterfactual: what the slowest would have taken with the"
            " flagged at their peers' median. It need not equal straggler wait in the"
            " ledger, and gains of single repairs do not add."
            f"{_joint(slow, frames, scope)}"
        )
    return [*[text for text in said_of if text], *_late(slow, frames, scope)]


def _tested(tests: pl.DataFrame) -> str:
    tested = tests.filter(pl.col("verdict") == "tested")
    if tested.is_empty():
        return ""
    ranks, steps = int(tested["ranks_tested"].sum()), int(tested["steps_tested"].sum())
    return (
        f"{plural(ranks, 'rank')} tested over {plural(steps, 'step')} in"
        f" {plural(tested.height, 'run')}; a healthy fleet flags nobody."
        f"{_shortest(tested)}"
    )


def _shortest(tested: pl.DataFrame) -> str:
    """Return the shortest spell that could have been seen."""
    steps = tested["shortest_spell_count"].drop_nulls()
    if steps.is_empty():
        return ""
    most = plural(int(str(steps.max())), "step")
    return f" A spell of fewer than {most} is not told from chance."


def _sources(tests: pl.DataFrame) -> list[str]:
    """Return where own work is from, and what that cannot tell."""
    tested = tests.filter(pl.col("verdict") == "tested")
    known = tested.filter(pl.col("source").is_not_null())
    by = known.group_by("source", "cannot_tell").agg(pl.col("run_id").sort())
    several = by.height > 1
    return [
        f"Own work{_of(row['run_id']) if several else ''} is from"
        f" {_SOURCES[row['source']]}. {row['cannot_tell'] or ''}".rstrip()
        for row in by.sort("source", "cannot_tell").to_dicts()
    ]


def _of(runs: list[str]) -> str:
    return f" of {listed([name(run, 30) for run in runs], 3)}"


def _untestable(tests: pl.DataFrame) -> str:
    others = tests.filter(pl.col("verdict") != "tested")
    told = [_why_not(row) for row in others.to_dicts()]
    return f"Not testable: {listed(told, 3)}." if told else ""


def _why_not(row: dict[str, object]) -> str:
    run = f"run {name(str(row['run_id']), 30)}"
    ranks = int(str(row["ranks_untested"] or 0))
    among = f" with {plural(ranks, 'rank')}" if ranks else ""
    verdict = str(row["verdict"])
    steps = int(str(row["steps_tested"] or 0))
    seen = f" ({grouped(steps)} with known waits)" if verdict == FEW_STEPS else ""
    return f"{run}{among}, because {_VERDICTS[verdict]}{seen}"


def _joint(slow: pl.DataFrame, frames: Frames, scope: Scope) -> str:
    """Return what all repairs together save, where there are several."""
    if slow.height == 1:
        return ""
    runs = slow["run_id"].unique().to_list()
    steps = scope.of_runs(frames[StragglerSteps]).filter(pl.col("run_id").is_in(runs))
    lost = steps.select(pl.col("lost_gpu_ns").cast(pl.Int128).sum()).collect().item()
    if not lost:
        return ""
    unit = _ledger.unit_for(int(lost))
    return f" All repaired together save {compact(unit.of(int(lost)))} {unit.name}."


def _jitter(tests: pl.DataFrame, frames: Frames, scope: Scope) -> str:
    """Return what scatter cost where the slow were told apart from it."""
    tested = tests.filter(pl.col("verdict") == "tested")["run_id"]
    total = (
        scope.of_runs(frames[StragglerSteps])
        .filter(pl.col("run_id").is_in(tested.to_list()))
        .select(pl.col("jitter_gpu_ns").cast(pl.Int128).sum())
        .collect()
        .item()
    )
    if not total:
        return ""
    unit = _ledger.unit_for(int(total))
    return (
        f"Scatter alone, with nobody slow, cost {compact(unit.of(int(total)))}"
        f" {unit.name}: the tax of size, which no repair removes."
    )


def _late(slow: pl.DataFrame, frames: Frames, scope: Scope) -> list[str]:
    """Return who comes last; collectives agree only with a rank that was found slow."""
    late = scope.of_runs(frames[LateRanks]).filter(LateRanks.is_late.col)
    ordered = late.sort(
        ["late_ns", "run_id", "attempt"], descending=[True, False, False]
    )
    rows = ordered.collect()
    if rows.is_empty():
        return []
    several = rows["run_id"].n_unique() > 1
    who = listed([_last(row, several=several) for row in rows.to_dicts()], 5)
    same = rows.join(slow, on=["run_id", "rank"], how="semi").height
    agree = "Collectives agree: they" if same == rows.height else "Collectives"
    return [f"{agree} show {who}, beyond chance."]


def _last(row: dict[str, object], *, several: bool) -> str:
    run = f" of {name(str(row['run_id']), 30)}" if several else ""
    last, seen = int(str(row["last_count"])), int(str(row["collectives_count"]))
    return f"rank {row['rank']}{run} last in {grouped(last)} of {grouped(seen)}"
