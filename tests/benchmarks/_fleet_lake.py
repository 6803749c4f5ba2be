"""What days of a whole fleet leave in a lake once they are condensed, written directly.

Rollups of a run of 6 s steps, every GPU in every hour, with nothing planted but one
slow rank: rows of the right shape and number, in seconds.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from analysis.power_hours import PowerHours
from analysis.rank_hours import RankHours
from analysis.step_rollups import StepRollups
from ingest import staging
from ingest._schema import schema_of
from ingest.lake import open_writer
from ingest.tables import Table
from ingest.times import DAY_NS, SECOND_NS
from pipeline import publishing

if TYPE_CHECKING:
    from ingest.manifest import Part

#: The run, and when its first day begins, as in the history of tests. [ns]
RUN: Final = "history-405b"
BEGUN_NS: Final = round(datetime(2026, 3, 3, tzinfo=UTC).timestamp()) * SECOND_NS

HOUR_NS: Final = 3_600 * SECOND_NS
STEP_NS: Final = 6 * SECOND_NS
STEPS_OF_DAY: Final = DAY_NS // STEP_NS

#: The slow rank, and how slow. [1]
SLOW_RANK: Final = 77
SLOW_RATIO: Final = 1.07


def write_rollups(root: Path, ranks: int, days: int) -> None:
    """Bring rollups of so many ranks and days into a lake, and publish it.

    Args:
        root: The lake's folder.
        ranks: Ranks of the run, one for each GPU. [1]
        days: UTC days of the run. [1]
    """
    parts: dict[type[Table], list[Part]] = {}
    with open_writer(root) as writer:
        for day in range(days):
            for table, rows in _day(day, ranks):
                told = _whole(table, rows)
                written = staging.write_parts(root, table, told, kind="rollup")
                parts.setdefault(table, []).extend(written)
        writer.commit_results(parts)
    publishing.publish(root)


def _day(day: int, ranks: int) -> Iterator[tuple[type[Table], pl.DataFrame]]:
    opened = BEGUN_NS + day * DAY_NS
    yield StepRollups, _steps(opened, day, ranks)
    cells = pl.select(hour=pl.int_range(24, dtype=pl.Int64)).join(
        pl.select(rank=pl.int_range(ranks, dtype=pl.Int32)), how="cross"
    )
    hours = cells.with_columns(hour_ns=opened + pl.col("hour") * HOUR_NS)
    yield RankHours, _ranks(hours, day)
    yield PowerHours, _power(hours)


def _steps(opened: int, day: int, ranks: int) -> pl.DataFrame:
    number = pl.int_range(STEPS_OF_DAY, dtype=pl.Int64)
    noise = pl.col("step").hash(7) % 60_000_000
    length = STEP_NS - 100_000_000 + noise.cast(pl.Int64)
    return pl.select(step=number + day * STEPS_OF_DAY).select(
        "step",
        pl.lit("rank").alias("scope"),
        pl.lit(day // 2).alias("attempt"),
        start_ns=opened + (pl.col("step") % STEPS_OF_DAY) * STEP_NS,
        end_ns=opened + (pl.col("step") % STEPS_OF_DAY) * STEP_NS + length,
        duration_ns_total=length * ranks,
        duration_ns_max=length,
        compute_ns_total=length * ranks * 8 // 10,
        wait_ns_total=length * ranks // 10,
        slowest_work_ns=length * 95 // 100,
        typical_work_ns=length * 9 // 10,
        slowest_rank=pl.lit(SLOW_RANK),
        clock=pl.lit("host"),
        **dict.fromkeys(("ranks", "rows", "compute_ranks", "wait_ranks"), ranks),
    )


def _ranks(hours: pl.DataFrame, day: int) -> pl.DataFrame:
    steps = HOUR_NS // STEP_NS
    first = day * STEPS_OF_DAY + pl.col("hour") * steps
    slow = pl.when(pl.col("rank") == SLOW_RANK).then(SLOW_RATIO).otherwise(1.0)
    noise = (pl.struct("rank", "hour").hash(3) % 20_000_000).cast(pl.Int64)
    work = (5_330_000_000 * slow).cast(pl.Int64) + noise
    return hours.select(
        "rank",
        "hour_ns",
        pl.lit(day // 2).alias("attempt"),
        steps=pl.lit(steps),
        known_steps=pl.lit(steps),
        first_step=first,
        last_step=first + steps - 1,
        start_ns="hour_ns",
        end_ns=pl.col("hour_ns") + HOUR_NS,
        duration_ns_total=pl.lit(HOUR_NS),
        wait_ns_total=HOUR_NS - work * steps,
        compute_ns_total=work * steps * 9 // 10,
        typical_work_ns=work,
        slowest_work_ns=work + 40_000_000,
    )


def _power(hours: pl.DataFrame) -> pl.DataFrame:
    energy = 2_400_000_000 + (pl.struct("rank", "hour").hash(5) % 90_000_000).cast(
        pl.Int64
    )
    return hours.select(
        _uuid().alias("gpu_uuid"),
        pl.lit("pod-a").alias("cluster"),
        "hour_ns",
        pl.lit("gpu_board").alias("level"),
        pl.lit(240).alias("samples_count"),
        from_ns="hour_ns",
        to_ns=pl.col("hour_ns") + HOUR_NS,
        average_mj=energy,
        average_measured_ns=pl.lit(HOUR_NS),
        average_peak_w=pl.lit(705.0),
        average_samples_count=pl.lit(240),
    )


def _uuid() -> pl.Expr:
    rank = pl.col("rank").cast(pl.String).str.zfill(12)
    return pl.lit("GPU-00000000-0000-4000-8000-") + rank


def _whole(table: type[Table], rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with every column of their table; a count not told is zero."""
    columns = table.columns()
    known = rows.with_columns(run_id=pl.lit(RUN))
    blank = {
        name: pl.lit(None if columns[name].nullable else 0).alias(name)
        for name in columns
        if name not in known.columns
    }
    schema = schema_of(table)
    return known.with_columns(blank.values()).select(schema.names()).cast(schema)


if __name__ == "__main__":
    write_rollups(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
