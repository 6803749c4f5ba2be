"""Spells of the days of a run joined: those that touch midnight are one."""

from collections.abc import Collection
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._straggler_causes import SPELL, causes_of
from analysis._straggler_day_edges import IS_SHORT, NONE
from analysis._straggler_day_tables import (
    StragglerDays,
    StragglerDaysEvidence,
    StragglerDaysSpells,
)
from ingest.phrases import phrase
from ingest.tables import Table

_THING: Final = ["run_id", "scope", "scope_id"]

_EDGE: Final = ["run_id", "day", "edge"]

_OF_DAY: Final = ["run_id", "day", "scope", "scope_id", "attempt", "first_step"]


def condensed_runs(frames: Frames) -> list[str]:
    """Return the runs whose steps are kept by day and tell waits, in order."""
    told = frames[StragglerDays].filter(pl.col("steps_tested") > 0)
    runs = told.select("run_id").unique().collect(engine="streaming")
    return runs["run_id"].sort().to_list()


def without(frames: Frames, inputs: Collection[type[Table]], runs: list[str]) -> Frames:
    """Return frames without the rows of some runs.

    Args:
        frames: Rows of tables.
        inputs: The tables.
        runs: The runs.
    """
    if not runs:
        return frames
    others = ~pl.col("run_id").is_in(runs)
    return Frames(
        {
            table: frames[table].filter(others)
            if "run_id" in table.column_names()
            else frames[table]
            for table in inputs
        }
    )


def kept_edges(frames: Frames) -> pl.DataFrame:
    """Return the short spells of edges that count: they go on beyond midnight.

    Returns:
        `run_id`, `day`, `edge`, `scope` and `scope_id`.
    """
    short = _numbered(frames).filter(IS_SHORT)
    return short.select(*_EDGE, "scope", "scope_id").unique()


def joined_spells(frames: Frames) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return rows of StragglerRanks and of StragglerEvidence.

    A spell that lasts until the end of a day goes on where the next day on which the
    run was seen begins with one of the same thing. Losses and late steps add up. Its
    slowdown is the mean over its days, by their steps. Its q-value is the largest of
    its days: the tests of a day are a family, and on each of these days they named it.
    One that is too short for any of its days counts where they have steps enough
    together. What a step cost that was done again on another day is in it both times.
    """
    spells = _numbered(frames)
    if spells.is_empty():
        return spells, spells
    evidence = _evidence(frames, spells)
    weighed = (pl.col("slowdown_ratio") * pl.col("steps_seen")).sum()
    joined = spells.group_by("spell", maintain_order=True).agg(
        pl.col(*_THING, "attempt", "first_step").first(),
        _only("rank"),
        _only("host"),
        pl.col("last_step").last(),
        pl.col("q_value").max(),
        pl.col("steps_late", "lost_gpu_ns").sum(),
        pl.col("parts_slow").max(),
        slowdown_ratio=weighed / pl.col("steps_seen").sum(),
    )
    return joined.join(causes_of(evidence), on="spell"), evidence


def _numbered(frames: Frames) -> pl.DataFrame:
    """Return the spells of days, in order, with `spell`, the number of the joined.

    Those of few blocks at an edge of a day are left out where they are too short with
    all that they touch.
    """
    seen = frames[StragglerDays].filter(pl.col("steps_tested") > 0)
    days = seen.select("run_id", "day", "shortest_spell_count").sort("run_id", "day")
    at = pl.int_range(pl.len(), dtype=pl.Int64).over("run_id")
    spells = frames[StragglerDaysSpells].join(
        days.with_columns(at=at), on=["run_id", "day"]
    )
    ordered = spells.collect(engine="streaming").sort(
        *_THING, "at", "attempt", "first_step"
    )
    before = pl.col("is_going_on", "at").shift(1).over(_THING).name.suffix("_before")
    goes_on = (
        pl.col("is_from_before")
        & pl.col("is_going_on_before")
        & (pl.col("at_before") == pl.col("at") - 1)
    ).fill_null(value=False)
    numbered = ordered.with_columns(before).with_columns(spell=(~goes_on).cum_sum())
    steps = pl.col("steps_seen").sum()
    is_long = (~IS_SHORT).any() | (steps >= pl.col("shortest_spell_count").max())
    named = numbered.with_columns(pl.col("edge").fill_null(NONE))
    return named.filter(is_long.over("spell"))


def _only(name: str) -> pl.Expr:
    is_one = pl.col(name).n_unique() == 1
    return pl.when(is_one).then(pl.col(name).first()).alias(name)


def _evidence(frames: Frames, spells: pl.DataFrame) -> pl.DataFrame:
    """Return the evidence of joined spells: of the first day that speaks for a cause.

    Where none does, it is that of the first day on which anything tells.
    """
    first = spells.group_by("spell", maintain_order=True).agg(
        pl.col(SPELL).first(), days=pl.len()
    )
    of_days = frames[StragglerDaysEvidence].collect(engine="streaming")
    told = spells.select("spell", "at", *_OF_DAY).join(of_days, on=_OF_DAY)
    strength = pl.col("supports").cast(pl.Int8).fill_null(-1)
    ordered = told.sort("spell", "rung", "at", "first_step")
    best = pl.col("supports", "evidence", "cause", "table_name").sort_by(
        strength, descending=True, maintain_order=True
    )
    rungs = ordered.group_by("spell", "rung", maintain_order=True).agg(
        best.first(),
        pl.col("rows_count").sum(),
        pl.col("from_ns").min(),
        pl.col("to_ns").max(),
        holding=pl.col("supports").fill_null(value=False).sum(),
    )
    named = rungs.join(first, on="spell")
    counted = phrase("{} (so on {} of its {} days)", "evidence", "holding", "days")
    is_several = (pl.col("days") > 1) & (pl.col("holding") > 0)
    said = pl.when(is_several).then(counted).otherwise("evidence")
    return named.with_columns(evidence=said).sort("spell", "rung")
