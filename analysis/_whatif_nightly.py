"""Every run, asked what the repairs that it suggests would save."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from analysis._analysis import Frames
from analysis._replay_steps import NotReplayable, Replay
from analysis._straggler_joined import condensed_runs, without
from analysis._whatif_answers import (
    Answers,
    Traced,
    answers_of_steps,
    answers_of_traces,
)
from analysis._whatif_asks import Evidence
from analysis._whatif_claims import Wish
from analysis._whatif_days import answers_of_days, runs_by_day, untold
from analysis._whatif_doubts import Limits
from analysis._whatif_paid import paid_of
from analysis._whatif_questions import Question
from analysis._whatif_runs import STEP_INPUTS, runs_with_steps
from analysis._whatif_traces import traced_runs, traces_of
from analysis._whatif_unanswered import unanswered
from analysis._whatif_wishes import wishes_of_days, wishes_of_steps, wishes_of_trace
from analysis.stragglers import StragglerRanks
from ingest.tables import Operations, PowerSamples, Table


def answer_all(frames: Frames, limits: Limits) -> list[dict[str, Any]]:
    """Return rows of WhatIf for every run that can be answered, and why others cannot.

    Args:
        frames: Tables that repairs are answered from.
        limits: From where on a saving is more than noise.
    """
    slow = frames[StragglerRanks].collect()
    paid = paid_of(frames)
    rows: list[dict[str, Any]] = []
    for run in runs_with_steps(_light(frames), limits.block_steps):
        mine = slow.filter(pl.col("run_id") == run.run_id)
        wishes = wishes_of_steps(mine)
        question = Question(wishes, mine, limits, True, paid.get(run.run_id))
        evidence = Evidence(run, frames[PowerSamples])
        rows += answers_of_steps(evidence, question).rows
    for days in runs_by_day(frames, slow):
        run = days.run
        wishes = wishes_of_days(days.slow)
        question = Question(wishes, days.slow, limits, True, paid.get(run.run_id))
        answers = answers_of_days(days, question)
        rows += answers.rows + untold(run, answers.refused)
    unfit: dict[str, str] = {}
    for run_id in traced_runs(frames):
        mine = slow.filter(pl.col("run_id") == run_id)
        asked = Question((), mine, limits, True, paid.get(run_id))
        replayed = _by_replay(frames, run_id, asked)
        rows += replayed.rows
        unfit |= {run_id: replayed.unfit} if replayed.unfit else {}
    return rows + unanswered(frames, {row["run_id"] for row in rows}, unfit)


def _light(frames: Frames) -> Frames:
    """Leave out runs whose steps are kept by day."""
    tables: tuple[type[Table], ...] = (*STEP_INPUTS, Operations, PowerSamples)
    return without(frames, tables, condensed_runs(frames))


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
    question = Question(wishes, slow, limits, paid=paid_of(frames).get(run_id))
    found = Answers()
    for days in runs_by_day(frames, slow):
        if days.run.run_id == run_id:
            found.add(answers_of_days(days, question))
    for run in runs_with_steps(_light(frames), limits.block_steps):
        if run.run_id == run_id:
            evidence = Evidence(run, frames[PowerSamples])
            found.add(answers_of_steps(evidence, question))
    if run_id in traced_runs(frames):
        replayed = _by_replay(frames, run_id, question)
        if replayed.unfit:
            texts = [part.repair.text for wish in wishes for part in wish.parts]
            replayed.refused |= dict.fromkeys(texts, replayed.unfit)
        found.add(replayed)
    return found


def _by_replay(frames: Frames, run_id: str, question: Question) -> Answers:
    """Answer by a replay of a run's traces: wishes, or what the traces suggest."""

    def asking(replay: Replay) -> Question:
        if question.wishes:
            return question
        kinds = replay.operations["raw_kind"].cast(pl.String).unique().to_list()
        return replace(question, wishes=wishes_of_trace(kinds, question.slow))

    unfit: list[str] = []
    every = traces_of(frames, run_id, asking)
    answers = answers_of_traces(run_id, _fit(every, unfit))
    if unfit and not answers.rows:
        answers.unfit = f"its trace of operations cannot be replayed: {unfit[0]}"
    return answers


def _fit(every: Iterable[Traced | NotReplayable], unfit: list[str]) -> Iterator[Traced]:
    """Yield the traces that can be replayed, and note why others cannot."""
    for one in every:
        if isinstance(one, NotReplayable):
            unfit.append(one.reason)
        else:
            yield one
