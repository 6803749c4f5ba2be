"""One row per collective, its ranks brought together."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._clock_shifts import Clocks, clocks_of
from analysis._collective_kinds import bus_factor
from analysis._collective_ranks import waits_in_batches
from analysis.attempts import Attempts
from analysis.clock_offsets import ClockOffsets
from analysis.gpus import Gpus
from ingest.phrases import phrase
from ingest.tables import Collectives, Table
from ingest.tables import _columns as c


class CollectiveWaits(Table):
    """One row per collective, its ranks brought together."""

    key: ClassVar = (
        "run_id",
        "attempt",
        "group_id",
        "kind",
        "is_p2p",
        "sequence",
        "start_ns",
        "occurrence",
    )

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    group_id = c.identifier("Group of ranks; of a send, its group and the pair.")
    kind = c.identifier("Kind of collective; send_recv for a send and its receive.")
    is_p2p = c.flag("Whether it is a send and its receive.")
    sequence = c.number("Number of the collective in its group.", nullable=True)
    match_method = c.choice("How ranks were brought together.", ("sequence", "order"))
    match_doubt = c.choice(
        "Why the ranks that were brought together may be of several collectives: by"
        " order alone, ranks saw different sizes, or different numbers of them; or one"
        " left before another came. Null where they are surely of one.",
        ("size", "count", "time"),
        nullable=True,
    )
    step = c.number("Step that launched it.", nullable=True)
    start_ns = c.time_ns(
        "First arrival; null where only durations are known.", nullable=True
    )
    occurrence = c.index("Position among collectives that are alike in all that.")
    bytes_total = c.size_bytes("Size of the whole message.", nullable=True)
    ranks_seen = c.number("Ranks whose part was seen.")
    ranks_expected = c.number("Ranks of the group.", nullable=True)
    wait_ns_max = c.duration_ns("Longest wait of a rank for the last.", nullable=True)
    wait_ns_total = c.duration_ns("Waits of all ranks together.", nullable=True)
    late_ns = c.duration_ns(
        "Last arrival after the one before it: what that rank alone cost.",
        nullable=True,
    )
    transfer_ns = c.duration_ns("Last end after the last arrival.", nullable=True)
    algbw_gbs = c.quantity("Size over transfer time.", "GB/s", nullable=True)
    busbw_gbs = c.quantity(
        "Size over transfer time, corrected for the kind.", "GB/s", nullable=True
    )
    last_rank = c.index(
        "Rank that arrived last; null where incomplete, or a tie within the residual.",
        nullable=True,
    )
    last_participant = c.identifier(
        "Who arrived last, where no rank is known by its trace and device.",
        nullable=True,
    )
    clock_residual_ns = c.duration_ns(
        "What clocks may be off after their offsets are taken out: the spread of the"
        " ends, where these should be one instant, else what offsets are uncertain by.",
        nullable=True,
    )


_ALIKE: Final = [name for name in CollectiveWaits.key if name != "occurrence"]


def measure_waits(
    collectives: dy.LazyFrame[Collectives],
    attempts: dy.LazyFrame[Attempts],
    clocks: Clocks | None = None,
) -> dy.DataFrame[CollectiveWaits]:
    """Split the time of each collective into waiting for the last rank and transfer.

    The rank with the longest kernel waited longest: it is the victim. The last to
    arrive has no wait. The offsets of clocks are taken out, and the spread of the
    ends, where all leave together, says how far to trust what is left.

    Args:
        collectives: What ranks saw of collectives, sends and receives.
        attempts: Attempts, for traces that do not tell theirs.
        clocks: What is known of clocks; None: all times are of one clock.

    Returns:
        One row per collective, in the order of the key.
    """
    found = [
        _with_bandwidth(
            waits.group_by("instance").agg(**_names(), **_measures())
        ).collect()
        for waits in waits_in_batches(collectives, attempts, clocks)
    ]
    rows = pl.concat(found).sort(*_ALIKE, "ranks_seen", "bytes_total", "wait_ns_total")
    alike = pl.int_range(pl.len()).over(_ALIKE)
    told = rows.with_columns(occurrence=alike).select(CollectiveWaits.column_names())
    return CollectiveWaits.validate(told, cast=True)


def _names() -> dict[str, pl.Expr]:
    pair = phrase("{} {}>{}", "group_id", "source", "target")
    same = ("run_id", "attempt", "kind", "is_p2p", "stem")
    by_number = pl.col("number").is_not_null().all()
    return {name: pl.col(name).first() for name in same} | {
        "group_id": pl.coalesce(pair, "group_id").first(),
        "sequence": pl.coalesce("number", "p2p_sequence", "sequence").min(),
        "match_method": pl.when(by_number)
        .then(pl.lit("sequence"))
        .otherwise(pl.lit("order")),
    }


def _measures() -> dict[str, pl.Expr]:
    told = ("ranks_seen", "ranks_expected", "late_ns")
    wait, is_known = pl.col("wait_ns"), pl.col("is_complete").first()
    transfer = (pl.col("last_left_ns") - pl.col("last_arrival_ns")).first()
    return {name: pl.col(name).first() for name in told} | {
        "last_rank": pl.col("last_rank").first(),
        "last_participant": pl.col("last_participant").first(),
        "match_doubt": pl.col("doubt").first(),
        "step": pl.col("step").min(),
        "start_ns": pl.col("start_ns").min(),
        "bytes_total": pl.col("bytes_total").max(),
        "wait_ns_max": wait.max(),
        "wait_ns_total": pl.when(is_known).then(wait.sum()),
        "transfer_ns": pl.when(is_known & (transfer >= 0)).then(transfer),
        "clock_residual_ns": pl.col("residual_ns").first(),
    }


def _with_bandwidth(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Add bandwidths; bytes over ns are GB/s, at 1e9 B to the GB."""
    transfer = CollectiveWaits.transfer_ns.col
    algbw = pl.when(transfer > 0).then(CollectiveWaits.bytes_total.col / transfer)
    factor = bus_factor(CollectiveWaits.ranks_expected.col)
    return rows.with_columns(algbw_gbs=algbw, busbw_gbs=algbw * factor)


def _compute(frames: Frames, _: Thresholds) -> Results:
    clocks = clocks_of(frames)
    found = measure_waits(frames[Collectives], frames[Attempts], clocks)
    return {CollectiveWaits: found}


ANALYSIS: Final = Analysis(
    name="collective_waits",
    version=3,
    describes="How long ranks waited for the last one, and how long data then moved",
    inputs=(Collectives, Attempts, Gpus, ClockOffsets),
    needs=(Collectives,),
    outputs=(CollectiveWaits,),
    compute=_compute,
)
