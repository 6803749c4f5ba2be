"""The search's findings as rows of the result tables."""

import polars as pl

from analysis._analysis import Frames
from analysis._straggler_causes import causes_of, find_evidence
from analysis._straggler_search import Search
from analysis._straggler_sources import CANNOT_TELL, NONE
from analysis._straggler_stretches import WINDOW_BLOCKS
from analysis._straggler_tests import smallest_visible
from analysis._straggler_things import RANK
from analysis._unlike_traces import UNLIKE_TRACES
from analysis.attempts import Attempts
from ingest.phrases import phrase
from ingest.tables import StepTimings


def slow_things(search: Search, frames: Frames) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return what is slow, where it is, what it costs alone and why; and the evidence.

    Returns:
        Rows of StragglerRanks and of StragglerEvidence.
    """
    if search.slow.is_empty():
        return search.slow, search.slow
    costs, seats = search.costs, search.steps.seats
    told = search.slow.join(costs.losses, on="spell").join(
        search.sources, on="run_id", how="left"
    )
    evidence = find_evidence(
        told, costs.spans, seats, frames, search.steps.limits.causes
    )
    caused = told.join(causes_of(evidence), on="spell")
    return with_parts(caused).join(places_of(costs.spans, seats), on="spell"), evidence


def with_parts(slow: pl.DataFrame) -> pl.DataFrame:
    """Say of a host that its GPUs tell of, that they do, before other evidence."""
    if slow.is_empty():
        return slow
    every = phrase("all {} GPUs of it are slow", "parts_slow")
    said = pl.concat_str(every, "evidence", separator="; ", ignore_nulls=True)
    return slow.with_columns(evidence=said.replace("", None))


def places_of(spans: pl.DataFrame, seats: pl.DataFrame) -> pl.DataFrame:
    """Return the rank and the host of each thing, where it has only one."""
    seated = spans.join(seats.select(*RANK, "host"), on=list(RANK), how="left")

    def only(name: str) -> pl.Expr:
        return pl.when(pl.col(name).n_unique() == 1).then(pl.col(name).first())

    return seated.group_by("spell").agg(rank=only("rank"), host=only("host"))


def tested_runs(search: Search, frames: Frames) -> pl.DataFrame:
    """Return what the test could have seen in each run, and why not more."""
    by_run = "run_id"
    compared = search.blocks.group_by(by_run).agg(ranks_compared=_distinct("rank"))
    steps = search.totals.group_by(by_run).agg(steps_tested=pl.len().cast(pl.Int64))
    units = search.cover.filter(pl.col("scope").is_in(["gpu", "dp_rank"]))
    judged = units.join(search.judged, on="thing", how="semi")
    tested = judged.group_by(by_run).agg(ranks_tested=_distinct("rank"))
    visible = smallest_visible(search.judged, search.steps.limits)
    runs = _seen(search, frames)
    for told in (compared, steps, tested, visible, search.sources, _spells(search)):
        runs = runs.join(told, on=by_run, how="left")
    counts = pl.col("ranks", "ranks_compared", "steps_tested", "ranks_tested")
    counted = runs.with_columns(counts.fill_null(0))
    is_tested = pl.col("ranks_tested") > 0
    return counted.with_columns(
        pl.col("source").fill_null(NONE),
        pl.col("cannot_tell").fill_null(CANNOT_TELL[NONE]),
        ranks_untested=(pl.col("ranks") - pl.col("ranks_tested")).clip(0),
        shortest_spell_count=pl.when(is_tested).then("shortest_spell_count"),
        verdict=_verdict(),
    )


def _spells(search: Search) -> pl.DataFrame:
    """Return for each run the shortest spell that a search for spells sees. [1]"""
    blocks = search.steps.plan.group_by("run_id", "block").agg(steps=pl.len())
    longest = blocks.group_by("run_id").agg(pl.col("steps").max().cast(pl.Int64))
    return longest.select(
        "run_id", shortest_spell_count=WINDOW_BLOCKS * pl.col("steps")
    )


def _distinct(name: str) -> pl.Expr:
    return pl.col(name).n_unique().cast(pl.Int64)


def _seen(search: Search, frames: Frames) -> pl.DataFrame:
    """Return every run, and how many of its ranks told of their steps."""
    names = [
        frames[table].select("run_id").unique() for table in (Attempts, StepTimings)
    ]
    ranks = search.steps.steps.group_by("run_id").agg(ranks=_distinct("rank"))
    told = search.sources.lazy().select("run_id")
    runs = pl.concat([*names, ranks.select("run_id"), told]).unique()
    timed = names[1].with_columns(is_timed=pl.lit(value=True))
    counted = runs.join(ranks, on="run_id", how="left")
    return counted.join(timed, on="run_id", how="left").collect().sort("run_id")


def _verdict() -> pl.Expr:
    is_timed = pl.col("is_timed").fill_null(value=False) | (pl.col("ranks") > 0)
    return (
        pl.when(pl.col("ranks_tested") > 0)
        .then(pl.lit("tested"))
        .when(pl.col("ranks_compared") > 0)
        .then(pl.lit("too_few_steps"))
        .when(pl.col("steps_tested") > 0)
        .then(pl.lit("too_few_peers"))
        .when(pl.col("cannot_tell") == UNLIKE_TRACES)
        .then(pl.lit("unlike_traces"))
        .when(is_timed)
        .then(pl.lit("no_waits"))
        .otherwise(pl.lit("no_steps"))
    )
