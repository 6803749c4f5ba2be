"""Clocks set wrong on purpose, and runs whose true times are known."""

from collections.abc import Mapping
from dataclasses import dataclass

import dataframely as dy
import numpy as np
import polars as pl

from analysis._clock_shifts import Clocks
from analysis._collective_ranks import rank_waits
from analysis.clock_offsets import ClockOffsets, find_clock_offsets
from analysis.late_ranks import find_late_ranks
from ingest.tables import Collectives
from tests.analysis.collectives import NO_ATTEMPTS

NO_HOSTS = pl.LazyFrame(
    schema={
        "run_id": pl.String,
        "attempt": pl.Int32,
        "rank": pl.Int32,
        "gpu_host": pl.String,
    }
)


@dataclass(frozen=True)
class Wrong:
    """How far a clock is ahead at a moment [ns], and how much too fast it is. [1]"""

    offset_ns: float
    drift: float


def draw(hosts: list[str], seed: int) -> dict[str, Wrong]:
    """Clocks up to 1 ms apart that drift by up to 50 ppm."""
    generator = np.random.default_rng(seed)
    offsets = generator.uniform(-1e6, 1e6, len(hosts))
    drifts = generator.uniform(-50e-6, 50e-6, len(hosts))
    return {
        host: Wrong(float(offset), float(drift))
        for host, offset, drift in zip(hosts, offsets, drifts, strict=True)
    }


def set_wrong(
    rows: pl.DataFrame, clocks: Mapping[str, Wrong], since_ns: int
) -> dy.LazyFrame[Collectives]:
    """Read the times of each host from its wrong clock."""

    def read(time: str) -> pl.Expr:
        ahead = pl.col("host").replace_strict(
            {host: clock.offset_ns for host, clock in clocks.items()},
            return_dtype=pl.Float64,
        )
        drift = pl.col("host").replace_strict(
            {host: clock.drift for host, clock in clocks.items()},
            return_dtype=pl.Float64,
        )
        shift = (ahead + drift * (pl.col(time) - since_ns)).round().cast(pl.Int64)
        return pl.col(time) + shift

    read_anew = rows.with_columns(start_ns=read("start_ns"), end_ns=read("end_ns"))
    length = read_anew.with_columns(duration_ns=pl.col("end_ns") - pl.col("start_ns"))
    return Collectives.validate(length).lazy()


def worst_error_ns(
    found: pl.DataFrame, clocks: Mapping[str, Wrong], moments: list[int], since_ns: int
) -> float:
    """The furthest an estimate is from what a clock was set to, at any moment."""
    worst = 0.0
    for row in found.filter(pl.col("state") != "unknown").to_dicts():
        mine, other = clocks[row["clock"]], clocks[row["reference_clock"]]
        for moment in moments:
            true = moment - since_ns
            reading = true + mine.offset_ns + mine.drift * true
            apart = reading - true - other.offset_ns - other.drift * true
            since = reading + since_ns - row["reference_ns"]
            told = row["offset_ns"] + (row["drift_ppm"] or 0.0) * 1e-6 * since
            worst = max(worst, abs(told - apart))
    return worst


def compare(
    true: pl.DataFrame, read: dy.LazyFrame[Collectives]
) -> tuple[dy.DataFrame[ClockOffsets], pl.DataFrame]:
    """Clocks as estimated, and each collective as it was beside what is told of it."""
    found = find_clock_offsets(read, NO_ATTEMPTS)
    was = _told(Collectives.validate(true).lazy(), None)
    told = _told(read, Clocks(found.lazy(), NO_HOSTS))
    both = was.join(told, on=["trace_id", "rank", "event"], suffix="_told")
    assert both.height == true.height
    return found, both.unique("instance", keep="first", maintain_order=True)


def _told(rows: dy.LazyFrame[Collectives], clocks: Clocks | None) -> pl.DataFrame:
    waits = rank_waits(rows, NO_ATTEMPTS, clocks)
    names = ("trace_id", "rank", "instance", "last_rank", "late_ns", "residual_ns")
    ordered = waits.sort("trace_id", "rank", "start_ns", "group_id")
    number = pl.int_range(pl.len()).over("trace_id", "rank")
    return ordered.select(*names, event=number).collect()


def late(rows: dy.LazyFrame[Collectives], found: pl.DataFrame | None) -> list[int]:
    """Ranks that are late, by the clocks as estimated."""
    clocks = None if found is None else Clocks(found.lazy(), NO_HOSTS)
    ranks = find_late_ranks(rows, NO_ATTEMPTS, clocks=clocks)
    return sorted(ranks.filter("is_late")["rank"].to_list())


def changed(both: pl.DataFrame, by_ns: int = 1_000) -> pl.DataFrame:
    """Collectives whose last rank is told otherwise though its margin is clear.

    Clear: beyond the residual. Where it is so by next to nothing, `by_ns`, nobody may
    be told, but never somebody else.
    """
    residual = pl.col("residual_ns_told").fill_null(0)
    other = (pl.col("last_rank") != pl.col("last_rank_told")).fill_null(value=False)
    lost = pl.col("last_rank_told").is_null()
    lost &= pl.col("late_ns") > residual + by_ns
    return both.filter(pl.col("late_ns") > residual, other | lost)
