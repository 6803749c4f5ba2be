"""Why a slow thing is slow: all that was looked at, and the strongest that holds."""

from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._straggler_cause_limits import CauseLimits
from analysis._straggler_failures import failures_of
from analysis._straggler_ladder import ladder
from analysis._straggler_links import links_of
from analysis._straggler_machine_rungs import VICTIM
from analysis._straggler_passes import passes_of
from analysis._straggler_powered import powered, spell_windows
from analysis._straggler_rung import STEPS, Rung
from analysis._straggler_things import RANK
from analysis._unlike_traces import of_one_run
from analysis.attempts import Attempts
from ingest.tables import Failures, LinkSamples, Operations, PowerSamples

UNKNOWN: Final = "unknown"

#: Columns that tell a row of StragglerRanks.
SPELL: Final = ("run_id", "scope", "scope_id", "attempt", "first_step")


#: Table that the steps of a run come from, by their source.
_STEP_TABLE: Final = pl.col("source").replace({"traces": "overlap"})


def find_evidence(
    slow: pl.DataFrame,
    spans: pl.DataFrame,
    seats: pl.DataFrame,
    frames: Frames,
    limits: CauseLimits,
) -> pl.DataFrame:
    """Go down a ladder of causes, the strongest evidence first.

    Args:
        slow: Spells of slow things: `spell`, SPELL, `slowdown_ratio`, `moment_from`,
            `moment_to`, `excess_ns`, `excess_data_ns`, `excess_transfer_ns` and
            `step_rows`, and the `source` of its run.
        spans: When each of their ranks was slow: `spell`, RANK, `from_ns`, `to_ns`.
        seats: Where ranks sit; with `is_sampled` where not all power and links are
            looked at.
        frames: Power samples, failures, samples of links, operations and attempts.
        limits: When something is a cause.

    Returns:
        `spell`, SPELL, and what was looked at: `rung` (from zero), `cause`, `supports`
        (null: nothing tells), `evidence`, `table_name`, `rows_count`, `from_ns` and
        `to_ns`, in order.
    """
    ranks = spans.select("spell", *RANK)
    within = pl.col("from_ns").min(), pl.col("to_ns").max()
    told = slow.join(spans.group_by("spell").agg(*within), on="spell", how="left")
    has_failures = not frames[Failures].limit(1).collect().is_empty()
    hosts = seats.filter(pl.col("host").is_not_null())
    placed = ranks.join(hosts, on=list(RANK), how="semi").select("spell").unique()
    operations = of_one_run(frames[Operations])
    windows = spell_windows(slow, spans)
    looked_at = seats.filter("is_sampled") if "is_sampled" in seats.columns else seats
    parts = (
        powered(windows, spans, looked_at, frames[PowerSamples], limits),
        failures_of(spans, seats, frames[Failures]),
        links_of(windows, spans, looked_at, frames[LinkSamples]),
        passes_of(told, ranks, operations, frames[Attempts], limits),
        placed.with_columns(has_failures=pl.lit(has_failures)),
    )
    for part in parts:
        told = told.join(part, on="spell", how="left")
    known = told.with_columns(pl.col("has_failures").fill_null(value=False))
    rungs = [_told(known, number, rung) for number, rung in enumerate(ladder(limits))]
    return pl.concat(rungs).sort("spell", "rung")


def causes_of(evidence: pl.DataFrame) -> pl.DataFrame:
    """Return `spell`, `cause` and `evidence`: all that holds, the cause's first."""
    holds = pl.col("supports").fill_null(value=False)
    cause = pl.col("cause").filter(holds & (pl.col("cause") != VICTIM)).first()
    victim = pl.when(pl.col("cause") == VICTIM).then(pl.lit("looks like a victim: "))
    said = victim.fill_null("") + pl.col("evidence")
    return evidence.group_by("spell", maintain_order=True).agg(
        cause=cause.fill_null(UNKNOWN),
        evidence=pl.when(holds.any()).then(said.filter(holds).str.join("; ")),
    )


def _told(spells: pl.DataFrame, number: int, rung: Rung) -> pl.DataFrame:
    known = rung.holds.is_not_null() & rung.said.is_not_null()
    rows = pl.when(known).then(pl.col(rung.rows)).fill_null(0)
    return spells.select(
        "spell",
        *SPELL,
        rung=pl.lit(number, pl.Int32),
        cause=pl.lit(rung.cause),
        supports=pl.when(known).then(rung.holds),
        evidence=pl.when(known).then(rung.said).otherwise(pl.lit(rung.missing)),
        table_name=_STEP_TABLE if rung.table == STEPS else pl.lit(rung.table),
        rows_count=rows.cast(pl.Int64),
        from_ns="from_ns",
        to_ns="to_ns",
    )
