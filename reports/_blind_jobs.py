"""Scheduler jobs, or time of them, that are in no account."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.attempts import Attempts
from analysis.interruptions import Interruptions
from ingest.tables import Jobs, RunCards
from reports._blind_spot import BlindSpot
from reports._numbers import grouped
from reports._section import Scope
from reports._words import listed, name, plural

#: States that are named: the rest is a count.
_MOST_STATES: Final = 3

#: State of a job that ended by itself with an error, in Slurm's words.
_FAILED: Final = "FAILED"

_MEND: Final = "name them in jobs of a run card, or give the run their name"


def unowned(frames: Frames, _: Scope) -> BlindSpot | None:
    """Return the jobs that belong to no run."""
    states = _states(frames)
    if not states:
        return None
    return BlindSpot(
        "What jobs without a run were for",
        f"{_belong(states)} ({_said(states)})",
        _MEND,
    )


def disputed(frames: Frames, _: Scope) -> BlindSpot | None:
    """Return the jobs that several run cards list: the first run has them all."""
    listed_by = frames[RunCards].select(
        "run_id", "cluster", job_id=RunCards.job_ids.col.str.split(",")
    )
    jobs = (
        listed_by.explode("job_id")
        .with_columns(pl.col("job_id").str.strip_chars())
        .filter(pl.col("job_id") != "")
        .group_by("cluster", "job_id")
        .agg(pl.col("run_id").unique().sort())
        .filter(pl.col("run_id").list.len() > 1)
        .sort("cluster", "job_id")
        .collect()
    )
    if jobs.is_empty():
        return None
    runs = [name(run, 30) for run in jobs["run_id"].explode().unique().sort()]
    told = listed([name(job, 20) for job in jobs["job_id"]])
    return BlindSpot(
        "Which run jobs are of that several run cards list",
        f"{plural(jobs.height, 'job')} ({told})"
        f" in the cards of {listed(runs)}; each counts for the first of its runs alone",
        "name a job in the card of its own run only",
    )


def hung(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the jobs that run on after a hang: nobody saw for how long they pay."""
    attempt = ["run_id", "attempt"]
    hangs = frames[Interruptions].filter(Interruptions.kind.col == "hang")
    running = scope.of_runs(frames[Attempts]).filter(Attempts.is_running.col)
    rows = running.join(hangs.select(attempt), on=attempt, how="semi").collect()
    if rows.is_empty():
        return None
    runs = [name(run_id, 30) for run_id in rows["run_id"].unique().sort()]
    still = "still runs" if len(rows) == 1 else "still run"
    return BlindSpot(
        "How long jobs were paid for after they hung",
        f"{plural(len(rows), 'job')} of {listed(runs)} {still}; what came after the"
        " last step is in no account",
        "a job list from after their end",
    )


def hint(frames: Frames) -> str:
    """Return what to do about jobs that belong to no run; empty without any."""
    states = _states(frames)
    return f"{_belong(states)}: {_MEND}." if states else ""


def failed(frames: Frames) -> str:
    """Return that jobs without a run failed; empty where none did."""
    count = _states(frames).get(_FAILED, 0)
    if not count:
        return ""
    are = "belongs" if count == 1 else "belong"
    return f"{plural(count, 'failed job')} {are} to no run: not counted."


def _states(frames: Frames) -> dict[str, int]:
    """Return the count of jobs without a run by state, the most frequent first."""
    job = [Jobs.job_id.name, Jobs.start_ns.name]
    rows = (
        frames[Jobs]
        .filter(Jobs.run_id.col.is_null())
        .join(frames[Attempts].select(job), on=job, how="anti")
        .group_by(Jobs.state.col)
        .agg(jobs=pl.len())
        .sort(["jobs", "state"], descending=[True, False])
        .collect()
    )
    return dict(rows.iter_rows())


def _belong(states: dict[str, int]) -> str:
    count = sum(states.values())
    return f"{plural(count, 'job')} {'belongs' if count == 1 else 'belong'} to no run"


def _said(states: dict[str, int]) -> str:
    counts = list(states.items())
    told = [f"{grouped(count)} {name(state, 30)}" for state, count in counts]
    rest = sum(count for _, count in counts[_MOST_STATES:])
    others = [f"{grouped(rest)} in other states"] if rest else []
    return listed([*told[:_MOST_STATES], *others], _MOST_STATES + 1)
