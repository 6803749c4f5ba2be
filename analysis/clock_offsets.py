"""One row per clock and spell: how far it is from the others, and how sure that is."""

from functools import partial
from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._clock_answers import answers
from analysis._clock_hosts import NOWHERE
from analysis._clock_names import hosts_of_ranks, name_clocks
from analysis._clock_seen import Seen, seen_by_clocks
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from ingest.tables import Collectives, Table
from ingest.tables import _columns as c


class ClockOffsets(Table):
    """One row per clock and spell: how far it is from the others, how sure that is."""

    key: ClassVar = ("run_id", "attempt", "clock", "spell")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    clock = c.identifier(
        "Host whose clock it is; its trace where no host is known, or where traces of"
        " the host disagree."
    )
    spell = c.index("Spell of profiling, ten minutes at most, counted from zero.")
    host = c.identifier("Node of the clock.", nullable=True)
    state = c.choice(
        "Whether the others are held against it, it is held against the reference, or"
        " it shares no collective with the reference of the spell.",
        ("reference", "estimated", "unknown"),
    )
    reason = c.text("Why nothing connects it to the reference of the spell.")
    component = c.index(
        "Clocks that collectives connect, the largest such set first; times of two"
        " components cannot be compared."
    )
    reference_clock = c.identifier("Clock that it is held against: its component's.")
    from_ns = c.time_ns("First time that it was read in the spell.")
    to_ns = c.time_ns("Last time that it was read in the spell.")
    reference_ns = c.time_ns("Moment that the offset is of.")
    offset_ns = dy.Int64(
        nullable=True,
        description="Ahead of its reference at that moment; negative: behind.",
        metadata={"unit": "ns"},
    )
    drift_ppm = c.real(
        "Faster than its reference, in parts in a million; null where the spell is too"
        " short, or holds too few collectives, to tell.",
        nullable=True,
    )
    residual_ns = c.duration_ns(
        "Robust standard deviation of its ends about those of the others.",
        nullable=True,
    )
    residual_max_ns = c.duration_ns("Most that one of its ends is off.", nullable=True)
    uncertainty_ns = c.duration_ns(
        "What the offset may be off, anywhere in the spell: ranks leave apart, and"
        " chance.",
        nullable=True,
    )
    is_corrected = c.flag(
        "Whether the offset is taken out of times: it is beyond its uncertainty, or the"
        " clock is a host's and another of its component is beyond."
    )
    collectives_count = c.count("Collectives whose end it shares with another clock.")


def find_clock_offsets(
    collectives: dy.LazyFrame[Collectives],
    attempts: dy.LazyFrame[Attempts],
    gpus: dy.LazyFrame[Gpus] | None = None,
) -> dy.DataFrame[ClockOffsets]:
    """Tell how far the clocks of hosts are apart, from the ends of collectives.

    Where all ranks leave together the ends are one instant: what they differ by is
    their clocks. A straight line is fitted to each clock, for each spell of profiling.
    Broadcasts, reduces and sends say nothing of it.

    Args:
        collectives: What ranks saw of collectives.
        attempts: Attempts, for traces that do not tell theirs.
        gpus: GPUs, for the hosts of ranks; None: only collectives tell them.

    Returns:
        One row per clock and spell; none where no time is of a GPU's clock.
    """
    hosts = hosts_of_ranks(Gpus.create_empty().lazy() if gpus is None else gpus)

    def see(split: pl.DataFrame) -> Seen:
        names = partial(name_clocks, hosts=hosts, split=split.lazy())
        return seen_by_clocks(collectives, attempts, names)

    seen = see(NOWHERE)
    if seen.split.height:
        seen = see(seen.split)
    told = answers(seen.times, seen.ends).rename({"window": "spell"})
    rows = told.select(ClockOffsets.column_names())
    return ClockOffsets.validate(rows.sort(ClockOffsets.key), cast=True)


def _compute(frames: Frames, _: Thresholds) -> Results:
    found = find_clock_offsets(frames[Collectives], frames[Attempts], frames[Gpus])
    return {ClockOffsets: found}


ANALYSIS: Final = Analysis(
    name="clock_offsets",
    version=2,
    describes="How far the clocks of hosts are apart, and how well that is known",
    inputs=(Collectives, Attempts, Gpus),
    needs=(Collectives,),
    outputs=(ClockOffsets,),
    compute=_compute,
)
