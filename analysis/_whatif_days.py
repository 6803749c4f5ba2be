"""Repairs of runs whose steps are kept by day: answered from what each day summed up.

Of each step the greatest and the typical own work are kept, and what each thing that
was found slow cost alone. So these can be asked for; what changes the work of all
ranks, or of one that was not found slow, cannot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from analysis._analysis import Frames
from analysis._repairs import Repair
from analysis._straggler_day_edges import IS_SHORT, NONE
from analysis._straggler_day_tables import StragglerDaysRanks, StragglerDaysSavings
from analysis._straggler_joined import condensed_runs, kept_edges
from analysis._straggler_joined_steps import joined_steps
from analysis._straggler_limits import Limits
from analysis._straggler_portions import Steps
from analysis._straggler_seats import seats_of
from analysis._whatif_answers import Answers, answered_by
from analysis._whatif_asks import NEEDS_OPERATIONS, Ask, Evidence, ask
from analysis._whatif_claims import Part
from analysis._whatif_day_blocks import even_blocks, joint_blocks, thing_blocks
from analysis._whatif_day_things import (
    KEPT_BY_DAY,
    Things,
    things_by_text,
    why_untold,
)
from analysis._whatif_intervals import OF_SEVERAL
from analysis._whatif_orders import NO_BLOCKS
from analysis._whatif_places import among
from analysis._whatif_questions import Question
from analysis._whatif_steps import RunSteps, peers_of
from analysis._whatif_unanswered import BLANK
from analysis._whatif_wishes import repair_of
from analysis.gpus import Gpus
from ingest.tables import StepTimings

#: Repairs of parts of every rank's steps, and their scopes.
_UNTOLD: Final = (
    ("communication", "communication"),
    ("communication=hidden", "communication"),
    ("data", "data"),
    ("clocks", "clocks"),
)


@dataclass(frozen=True, slots=True)
class RunDays:
    """The days of one run.

    Attributes:
        run: What is known of its ranks and steps; the steps themselves are not.
        steps: Joined steps.
        savings: Rows of StragglerDaysSavings.
        slow: Rows of StragglerRanks.
        frames: Ranks of days, and seats, for reasons.
    """

    run: RunSteps
    steps: pl.DataFrame
    savings: pl.DataFrame
    slow: pl.DataFrame
    frames: Frames

    def things(self) -> Mapping[str, Things]:
        """Return scope and name of slow things, by the text of what they are called."""
        stages = self.run.peers["pp_rank"].drop_nulls().sort().to_list()
        return things_by_text(self.slow, stages[-1] if stages else None)


def runs_by_day(frames: Frames, slow: pl.DataFrame) -> list[RunDays]:
    """Return every run whose steps are kept by day, in order.

    Args:
        frames: Tables of days, and seats.
        slow: Rows of StragglerRanks.
    """
    runs = condensed_runs(frames)
    if not runs:
        return []
    steps = joined_steps(frames)
    savings = _savings(frames)
    found = []
    for run in runs:
        of_run = pl.col("run_id") == run
        mine, of_steps = slow.filter(of_run), steps.filter(of_run)
        repairs = [repair_of(row) for row in mine.to_dicts()]
        known = _run(frames, run, of_steps.height, repairs)
        found.append(RunDays(known, of_steps, savings.filter(of_run), mine, frames))
    return found


def _savings(frames: Frames) -> pl.DataFrame:
    """Return the savings of spells that count."""
    rows = frames[StragglerDaysSavings].with_columns(pl.col("edge").fill_null(NONE))
    kept = rows.collect(engine="streaming")
    short = kept.filter(IS_SHORT).join(
        kept_edges(frames),
        on=["run_id", "day", "edge", "scope", "scope_id"],
        how="semi",
    )
    return pl.concat([kept.filter(~IS_SHORT), short])


def _run(
    frames: Frames, run_id: str, steps_seen: int, repairs: Sequence[Repair]
) -> RunSteps:
    """Return what is known of a run; of its seats those of repairs: all are many."""
    of_run, is_asked = pl.col("run_id") == run_id, among(repairs)
    gpus = frames[Gpus].filter(of_run & pl.col("rank").is_not_null())
    ranks = frames[StragglerDaysRanks].filter(of_run).select("attempt", "rank").unique()
    by = ["attempt", "rank"]
    staged = gpus.group_by(by).agg(pl.col("pp_rank", "dp_rank").max())
    placed = ranks.join(staged, on=by, how="left")
    asked = gpus.filter(is_asked).select(by).unique().collect(engine="streaming")
    seats = seats_of(gpus.join(asked.lazy(), on=by, how="semi"))
    seated = ranks.join(seats.lazy(), on=by, how="left").filter(is_asked)
    nothing = frames[StepTimings].limit(0)
    return RunSteps(
        run_id=run_id,
        steps=Steps(nothing, pl.DataFrame(), seats, Limits()),
        parts=nothing,
        seen=seated.collect(engine="streaming").sort(by),
        ranks=int(ranks.select(pl.col("rank").n_unique()).collect().item()),
        peers=peers_of(placed),
        told=frozenset(),
        stalls=0,
        steps_seen=steps_seen,
        is_traced=False,
        sees_replicas=False,
    )


def answers_of_days(days: RunDays, question: Question) -> Answers:
    """Answer from what the days of a run summed up.

    Args:
        days: The days.
        question: What is asked.
    """
    things = days.things()

    def read(part: Part) -> Ask | str:
        repair = part.repair
        is_known = repair.text == "everything" or repair.text in things
        if is_known or repair.kind in NEEDS_OPERATIONS:
            return ask(part, Evidence(days.run, pl.LazyFrame()))
        return why_untold(repair, days.frames, days.run.run_id)

    def measure(parts: Mapping[str, Sequence[Ask]]) -> pl.DataFrame:
        size = question.limits.block_steps
        found = [_blocks(days, things.get(name), name, size) for name in parts]
        columns = [*NO_BLOCKS.columns, *OF_SEVERAL]
        blocks = [one.select(columns) for one in found]
        return pl.concat(blocks) if blocks else NO_BLOCKS

    # what several save together is known of all alone
    alone = [wish for wish in question.wishes if not wish.is_joint]
    told = (days.run.run_id, "order_statistics")
    asked = replace(question, wishes=alone)
    return answered_by(told, days.run.seen, asked, read, measure)


def _blocks(
    days: RunDays, things: Things | None, name: str, block_steps: int
) -> pl.DataFrame:
    if name == "everything":
        return even_blocks(days.steps, name, block_steps)
    if things is None:
        return joint_blocks(days.steps, name, block_steps)
    told = [
        {"scope": scope, "scope_id": scope_id} for scope, scope_id in sorted(things)
    ]
    mine = days.savings.join(pl.DataFrame(told), on=["scope", "scope_id"], how="semi")
    return thing_blocks(days.steps, mine, name)


def untold(run: RunSteps, refused: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return a row for each repair that other runs are asked for, with the reason.

    Args:
        run: The run.
        refused: Why a repair could not be told, by its text.
    """
    seen = {"run_id": run.run_id, "steps": run.steps_seen, "ranks_held": run.ranks}
    rows = [(text, scope, KEPT_BY_DAY) for text, scope in _UNTOLD]
    if "everything" in refused:
        rows.append(("everything", "everything", refused["everything"]))
    return [
        {**BLANK, **seen, "repair": text, "scope": scope, "doubt": why}
        for text, scope, why in rows
    ]
