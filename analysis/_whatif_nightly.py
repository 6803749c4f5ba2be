"""Every run, asked what the repairs that it suggests would save."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import polars as pl

from analysis._analysis import Frames
from analysis._replay_steps import NotReplayable, Replay
from analysis._straggler_seats import seats_of
from analysis._whatif_answers import (
    Answers,
    Traced,
    answers_of_steps,
    answers_of_traces,
)
from analysis._whatif_asks import Evidence
from analysis._whatif_claims import Wish
from analysis._whatif_questions import Question
from analysis._whatif_rows import Limits
from analysis._whatif_runs import runs_with_steps
from analysis._whatif_traces import traces_of
from analysis._whatif_wishes import wishes_of_steps, wishes_of_trace
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.runs import Runs
from analysis.stragglers import StragglerRanks
from ingest.tables import Operations, PowerSamples, StepTimings

#: Why a run whose steps are timed has no answer.
NO_WAITS: Final = (
    "the time that ranks waited is not told, and without it all their steps look alike"
)


def answer_all(frames: Frames, limits: Limits) -> list[dict[str, Any]]:
    """Return rows of WhatIf for every run that can be answered, and why others cannot.

    Args:
        frames: Tables that repairs are answered from.
        limits: From where on a saving is more than noise.
    """
    slow = frames[StragglerRanks].collect()
    rows: list[dict[str, Any]] = []
    for run in runs_with_steps(frames, limits.block_steps):
        mine = slow.filter(pl.col("run_id") == run.run_id)
        question = Question(wishes_of_steps(mine), mine, limits, has_joint=True)
        evidence = Evidence(run, frames[PowerSamples])
        rows += answers_of_steps(evidence, question).rows
    for run_id in traced_runs(frames):
        mine = slow.filter(pl.col("run_id") == run_id)
        rows += answers_by_replay(frames, run_id, mine, limits, None).rows
    return rows + _unanswered(frames, {row["run_id"] for row in rows})


def answer_wishes(
    frames: Frames, run_id: str, wishes: list[Wish], limits: Limits
) -> Answers:
    """Answer what was asked of one run, by every road that can.

    Args:
        frames: Tables that repairs are answered from.
        run_id: The run.
        wishes: What is asked.
        limits: From where on a saving is more than noise.

    Returns:
        The answers; refused is what no road can tell, with the reason of the last.
    """
    slow = frames[StragglerRanks].filter(pl.col("run_id") == run_id).collect()
    found = Answers()
    for run in runs_with_steps(frames, limits.block_steps):
        if run.run_id == run_id:
            question = Question(wishes, slow, limits)
            evidence = Evidence(run, frames[PowerSamples])
            found.add(answers_of_steps(evidence, question))
    if run_id in traced_runs(frames):
        found.add(answers_by_replay(frames, run_id, slow, limits, wishes))
    return found


def traced_runs(frames: Frames) -> list[str]:
    """Return the runs whose operations were traced, in order."""
    runs = frames[Operations].select("run_id").unique().collect(engine="streaming")
    return runs["run_id"].sort().to_list()


def answers_by_replay(
    frames: Frames,
    run_id: str,
    slow: pl.DataFrame,
    limits: Limits,
    wishes: list[Wish] | None,
) -> Answers:
    """Answer by a replay of a run's traces.

    Args:
        frames: Tables that repairs are answered from.
        run_id: The run.
        slow: Its rows of StragglerRanks.
        limits: From where on a saving is more than noise.
        wishes: What is asked; what the traces suggest where None.
    """

    def asking(replay: Replay) -> Question:
        if wishes is not None:
            return Question(wishes, slow, limits)
        kinds = replay.operations["raw_kind"].cast(pl.String).unique().to_list()
        return Question(wishes_of_trace(kinds, slow), slow, limits, has_joint=True)

    of_run = pl.col("run_id") == run_id
    every = traces_of(
        frames[Operations].filter(of_run),
        frames[Attempts].filter(of_run),
        seats_of(frames[Gpus].filter(of_run)),
        asking,
        _gpus(frames, run_id),
    )
    unfit: list[str] = []
    answers = answers_of_traces(run_id, _fit(every, unfit))
    if unfit and not answers.rows:
        why = f"its trace of operations cannot be replayed: {unfit[0]}"
        texts = [part.repair.text for wish in wishes or () for part in wish.parts]
        answers.refused |= dict.fromkeys(texts, why)
    return answers


def _fit(every: Iterable[Traced | NotReplayable], unfit: list[str]) -> Iterator[Traced]:
    """Yield the traces that can be replayed, and note why others cannot."""
    for one in every:
        if isinstance(one, NotReplayable):
            unfit.append(one.reason)
        else:
            yield one


def _gpus(frames: Frames, run_id: str) -> int | None:
    told = frames[Runs].filter(Runs.run_id.col == run_id).select("gpu_count").collect()
    return told.item() if told.height == 1 else None


def _unanswered(frames: Frames, answered: set[str]) -> list[dict[str, Any]]:
    """Return a row for each run whose steps are timed, but not its waits."""
    of_ranks = (StepTimings.scope.col == "rank") & StepTimings.rank.col.is_not_null()
    seen = (
        frames[StepTimings]
        .filter(of_ranks)
        .group_by("run_id")
        .agg(
            steps=pl.struct("attempt", "step").n_unique().cast(pl.Int64),
            ranks_held=pl.col("rank").n_unique().cast(pl.Int64),
        )
        .collect(engine="streaming")
        .sort("run_id")
    )
    blank = {
        "repair": "everything",
        "method": "none",
        "scope": "everything",
        "is_joint": False,
        "is_bound": True,
        "is_reliable": False,
        "is_beyond_noise": False,
        "doubt": NO_WAITS,
        "left_out_count": 0,
    }
    return [blank | row for row in seen.to_dicts() if row["run_id"] not in answered]
