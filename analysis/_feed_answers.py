"""The answers on feeds, brought together: violations, steps and runs."""

from typing import Final, NamedTuple

import polars as pl

from analysis._feed_balance import correlations
from analysis._feed_costs import with_costs
from analysis._feed_found import Found, go_through, judge
from analysis._feed_ranks import FAULT_ID, in_words, with_readers
from analysis._feed_rows import STEP, Reads
from analysis._feed_runs import runs_of
from analysis._feed_steps import with_kept
from analysis._feed_times import rank_log, rolled_times, step_times
from analysis._feed_verdicts import blind_spots
from analysis._feed_words import evidence

#: Who is known of a fault before its reads are gone through again.
_OWN: Final = {
    "ranks": "own_ranks",
    "dp_ranks": "own_replicas",
    "others": "own_others",
}


class Feed(NamedTuple):
    """The tables that feeds are judged by."""

    reads: pl.LazyFrame
    attempts: pl.LazyFrame
    runs: pl.LazyFrame
    timings: pl.LazyFrame
    rollups: pl.LazyFrame
    checkpoints: pl.LazyFrame
    traces: pl.LazyFrame
    ledger: pl.LazyFrame


def answer(
    feed: Feed, portion_rows: int, stall_ratio: float, attention_share: float
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the violations, the steps and the runs of all feeds.

    Args:
        feed: The tables.
        portion_rows: Rows of reads to hold at once. [1]
        stall_ratio: Share of its step from which a rank is stalled. [1]
        attention_share: Share of compute that grows with squared lengths. [1]
    """
    attempts, runs = feed.attempts.collect(), feed.runs.collect()
    reads = Reads(feed.reads, attempts.lazy(), runs.lazy(), portion_rows)
    log = rank_log(feed.timings, attempts.lazy(), feed.traces)
    rolled = rolled_times(feed.rollups, attempts.lazy())
    times = pl.concat([step_times(log, stall_ratio), rolled]).sort(STEP)
    gone = go_through(reads, log)
    saved = feed.checkpoints.filter(pl.col("kind") == "save").collect()
    found = judge(gone, attempts, runs, saved)
    faults = _faults(found, reads, times)
    steps = _steps(found.facts, times, attempts)
    lost = unplaced(feed.reads, attempts)
    blind = blind_spots(found, gone, runs, lost)
    whole = runs_of(faults, steps, found.passes, blind, feed.ledger.collect())
    extra = (attention_share * (pl.col("imbalance_ratio") - 1)).clip(0)
    longer = {"imbalance_time_ratio": extra}
    told = whole.join(correlations(gone.sums), on="run_id", how="left")
    return faults, steps.with_columns(**longer), told.with_columns(**longer)


def _faults(found: Found, reads: Reads, times: pl.DataFrame) -> pl.DataFrame:
    by = ["run_id", "step", "kind", "dataset", "epoch"]
    ordered = found.faults.sort(by).with_row_index(FAULT_ID)
    listed = ordered.rename(_OWN)
    read = with_readers(listed.drop(_OWN.values()), reads)
    told = [
        in_words(listed.select(FAULT_ID, pl.col(own)).explode(own), own).rename(
            {"words": own}
        )
        for own in _OWN.values()
    ]
    for words in told:
        read = read.join(words, on=FAULT_ID, how="left")
    named = read.with_columns(
        ranks=pl.coalesce("ranks", "own_ranks"),
        dp_ranks=pl.coalesce("dp_ranks", "own_replicas"),
        other_ranks=pl.coalesce("other_ranks", "own_others"),
    )
    begun = _begun(found.facts)
    dated = named.join(begun, on=["run_id", "attempt"], how="left")
    costed = with_costs(dated, found.facts, times)
    return costed.with_columns(
        evidence=evidence(),
        sample_from="first",
        sample_to="after",
        samples_count="samples",
    )


def _begun(facts: pl.DataFrame) -> pl.DataFrame:
    """Return the first step of each attempt, and the last that was kept before it."""
    firsts = facts.group_by("run_id", "attempt").agg(pl.col("resumed").min())
    return firsts.with_columns(last_before=pl.col("resumed") - 1)


def _steps(
    facts: pl.DataFrame, times: pl.DataFrame, attempts: pl.DataFrame
) -> pl.DataFrame:
    """Return the steps of feeds and of step logs that tell of input."""
    logged = times.filter(pl.col("data_gpu_ns").is_not_null())
    read = facts.drop("is_kept", "resumed")
    both = read.join(
        times.join(facts, on="run_id", how="semi"), on=list(STEP), how="left"
    )
    others = logged.join(facts, on=list(STEP), how="anti")
    together = pl.concat([both, others], how="diagonal")
    kept = with_kept(together, attempts)
    seen = pl.when("by_replica").then("replicas_seen").otherwise("ranks_seen")
    return kept.with_columns(
        readers_seen=seen,
        readers_expected="expected",
        imbalance_ratio=pl.when(
            pl.col("is_whole") & (pl.col("squares_count") == pl.col("expected"))
        ).then("squares_ratio"),
        heaviest_dp_rank="heaviest",
    )


def unplaced(reads: pl.LazyFrame, attempts: pl.DataFrame) -> pl.DataFrame:
    """Return how many rows no attempt can be told of: run_id and unplaced."""
    several = attempts.group_by("run_id").agg(_n=pl.len()).filter(pl.col("_n") > 1)
    lost = pl.col("attempt").is_null() & pl.col("time_ns").is_null()
    rows = reads.filter(lost).join(several.lazy(), on="run_id", how="semi")
    counted = rows.group_by("run_id").agg(unplaced=pl.len().cast(pl.Int64))
    return counted.collect(engine="streaming")
