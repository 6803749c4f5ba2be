"""Stops of a run inside an attempt: its job did not end."""

from typing import Final

import polars as pl

from analysis._held_nodes import UNKNOWN_CLUSTER
from analysis.attempts import Attempts

_ATTEMPT: Final = ["run_id", "attempt"]

#: What stops inside an attempt take from it.
_TAKEN: Final = (*_ATTEMPT, "cluster", "start_ns", "hosts")

#: Steps that end so long after a hang tell that it was over. [ns]
_WENT_ON_NS: Final = 60 * 1_000_000_000

#: Longest time from the last step to the failure that it ceased with: NCCL's watchdog
#: aborts a collective after 10 minutes, and did after 30. [ns]
_CEASED_NS: Final = 1_800 * 1_000_000_000


def stops_in_pauses(attempts: pl.DataFrame, pauses: pl.DataFrame) -> pl.DataFrame:
    """Return the pauses of attempts as stops: `went_back`, and `pause`.

    A run can lose a node without the end of its job: what is left goes back to a
    checkpoint. Where it only stood still, a failure must tell that it was stopped:
    evaluations and slow checkpoints are pauses, too.

    Args:
        attempts: Rows of Attempts, their cluster known.
        pauses: Rows of StepPauses.
    """
    redone = (pl.col("step_before") - pl.col("step_after") + 1).clip(0)
    kind = pl.when("went_back").then(pl.lit("went_back")).otherwise(pl.lit("pause"))
    return pauses.join(attempts.select(_TAKEN), on=_ATTEMPT).select(
        *_TAKEN,
        kind=kind,
        last_step_end_ns="from_ns",
        first_step_ns="to_ns",
        lost_steps=pl.when("went_back").then(redone),
    )


def stops_in_hangs(
    attempts: pl.DataFrame, stops: pl.DataFrame, hangs: pl.DataFrame
) -> pl.DataFrame:
    """Return the hangs after which no other stop and no step is known.

    Dumps may be all that is known of a run: its hang is an interruption, too.

    Args:
        attempts: Rows of Attempts, their cluster known.
        stops: Stops that are known.
        hangs: Rows of Hangs that show a hang, the first of each attempt.
    """
    known = hangs.join(stops, on=_ATTEMPT, how="anti")
    found = known.select(*_ATTEMPT, hung_ns=_since()).join(
        attempts.select(*_TAKEN, Attempts.last_step_end_ns.name),
        on=_ATTEMPT,
        how="left",
    )
    went_on = pl.col("last_step_end_ns") > pl.col("hung_ns") + _WENT_ON_NS
    return found.filter(~went_on.fill_null(value=False)).with_columns(
        pl.col("cluster").fill_null(UNKNOWN_CLUSTER), kind=pl.lit("hang")
    )


def stops_in_failures(
    attempts: pl.DataFrame,
    stops: pl.DataFrame,
    nodes: pl.DataFrame,
    events: pl.LazyFrame,
) -> pl.DataFrame:
    """Return the hangs of jobs that still run, as fatal failures of their nodes tell.

    Steps ceased with the failure, and nobody saw the job end: a hang, of which nothing
    is known after the last step.

    Args:
        attempts: Rows of Attempts, their cluster known.
        stops: Stops that are known.
        nodes: Nodes held: `cluster`, `host`, `run_id` and `attempt`.
        events: Rows of IncidentEvents.
    """
    last = Attempts.last_step_end_ns.col
    running = attempts.filter(Attempts.is_running.col & last.is_not_null())
    hung = running.join(
        stops.filter(pl.col("kind") == "hang"), on=_ATTEMPT, how="anti"
    ).select(*_TAKEN, "last_step_end_ns")
    held = nodes.select(*_ATTEMPT, "host").join(hung, on=_ATTEMPT)
    fatal = (pl.col("severity") == "fatal") & (pl.col("role") == "root")
    told = events.filter(fatal).select("cluster", "host", hung_ns="first_ns").collect()
    ceased = pl.col("hung_ns").is_between(last - _WENT_ON_NS, last + _CEASED_NS)
    found = held.join(told.drop_nulls(), on=["cluster", "host"]).filter(ceased)
    first = found.sort("hung_ns", "host").unique(
        _ATTEMPT, keep="first", maintain_order=True
    )
    return first.drop("host").with_columns(kind=pl.lit("hang"))


def lay_hangs(stops: pl.DataFrame, hangs: pl.DataFrame) -> pl.DataFrame:
    """Return the hang of each stop: the last that began before the stop was over.

    Args:
        stops: Columns run_id, attempt, stop, first_step_ns and end_ns.
        hangs: Rows of Hangs that show a hang, with `suspect_ranks`.

    Returns:
        Columns run_id, attempt, stop, hang_id, hang_kind, verdict, suspect_ranks.
    """
    over = pl.coalesce("end_ns", "first_step_ns")
    told = ["hang_id", "verdict", "suspect_ranks"]
    pairs = stops.select(*_ATTEMPT, "stop", _over=over).join(
        hangs.select(*_ATTEMPT, *told, hang_kind="kind", _since=_since()), on=_ATTEMPT
    )
    begun = (pl.col("_since") <= pl.col("_over")).fill_null(value=True)
    last = pairs.filter(begun).sort(
        *_ATTEMPT, "hang_id", "_over", "stop", nulls_last=True
    )
    first_over = last.unique([*_ATTEMPT, "hang_id"], keep="first", maintain_order=True)
    by_time = first_over.sort(*_ATTEMPT, "stop", "_since", "hang_id")
    chosen = by_time.unique([*_ATTEMPT, "stop"], keep="last", maintain_order=True)
    return chosen.drop("_over", "_since")


def shown_hangs(hangs: pl.LazyFrame, suspects: pl.LazyFrame) -> pl.DataFrame:
    """Return the hangs that somebody is known to wait in, with `suspect_ranks`.

    Args:
        hangs: Rows of Hangs.
        suspects: Rows of HangSuspects.
    """
    hang = [*_ATTEMPT, "hang_id"]
    place = pl.concat_str(
        pl.col("host").fill_null("?"), pl.lit(":"), pl.col("rank_in_group")
    )
    name = pl.coalesce(pl.col("rank").cast(pl.String), place)
    named = (
        suspects.filter("is_candidate")
        .sort(*hang, "rank", "host", "rank_in_group")
        .group_by(hang, maintain_order=True)
        .agg(suspect_ranks=name.drop_nulls().str.join(","))
    )
    shown = hangs.filter(pl.col("candidates_count") > 0)
    told = shown.join(named, on=hang, how="left").sort(*hang)
    blank = pl.col("suspect_ranks") == ""
    return told.with_columns(
        pl.when(~blank).then("suspect_ranks").alias("suspect_ranks")
    ).collect()


def _since() -> pl.Expr:
    return pl.coalesce("first_ns", "last_ns")
