"""Reads of the data set, in portions of steps, each with its attempt and replica."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._ledger_layout import place_in_layout
from analysis.placing import place
from ingest.tables import DataReads

#: What tells one step from another.
STEP: Final = ("run_id", "attempt", "step")

#: What tells one batch of a replica and step from another; rows of one batch share it.
BATCH: Final = ("dataset", "epoch", "first", "after", "batch_hash")

#: What is told of a batch beside its samples.
SIZES: Final = ("tokens", "tokens_squared", "longest_document")

#: Rows of a portion, of which there is one at a time in memory. Sorting and joining
#: them takes up to about 1.5 kB for each.
PORTION_ROWS: Final = 500_000

_BY: Final = ("run_id", "step")


@dataclass(frozen=True, slots=True)
class Reads:
    """Reads of any number of runs; going through them gives portions of whole steps.

    Attributes:
        rows: Rows of DataReads.
        attempts: Rows of Attempts.
        runs: Rows of Runs: the layouts.
        portion_rows: Rows to hold at once; those of a step are never parted. [1]
    """

    rows: pl.LazyFrame
    attempts: pl.LazyFrame
    runs: pl.LazyFrame
    portion_rows: int = PORTION_ROWS

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Read one portion after the other: columns of STEP, BATCH and SIZES.

        There is at least one, which may be empty.

        Each row has its rank, replica (null where neither the row nor a layout tells
        it) and tp, cp and pp rank. Rows that no attempt can be told of are left out.
        """
        return self._portions(self.rows)

    def of_steps(self, steps: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """Read the portions of some steps alone.

        Args:
            steps: Columns run_id and step.
        """
        wanted = steps.select(_BY).unique().lazy()
        return self._portions(self.rows.join(wanted, on=list(_BY), how="semi"))

    def _portions(self, rows: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        counted = (
            rows.group_by(_BY)
            .agg(rows=pl.len().cast(pl.Int64))
            .collect(engine="streaming")
            .sort(_BY)
        )
        before = pl.col("rows").cum_sum() - pl.col("rows")
        numbered = counted.select(*_BY, portion=before // self.portion_rows)
        portions = numbered.partition_by("portion", include_key=False)
        for keys in portions or [counted.select(_BY)]:
            near = rows.filter(between(keys, "run_id"), between(keys, "step"))
            found = near.join(keys.lazy(), on=list(_BY), how="semi")
            yield self._placed(found.collect().lazy()).collect()

    def _placed(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        alone = self.attempts.group_by("run_id").agg(attempts=pl.len())
        counted = rows.join(alone, on="run_id", how="left")
        can_be_placed = (
            pl.col("attempt").is_not_null()
            | pl.col("time_ns").is_not_null()
            | (pl.col("attempts").fill_null(0) <= 1)
        )
        named = counted.filter(can_be_placed).rename({"dp_rank": "told_replica"})
        timed = named.with_columns(_by_time=pl.col("attempt").is_null())
        dated = place(timed, self.attempts, DataReads.time_ns.name)
        placed = place_in_layout(_read_ahead(dated, self.attempts), self.runs)
        return placed.select(
            *STEP,
            "rank",
            pl.coalesce("told_replica", "dp_rank").cast(pl.Int32).alias("replica"),
            *["tp_rank", "cp_rank", "pp_rank", "dataset", "epoch"],
            pl.col("sample_from").alias("first"),
            pl.col("sample_to").alias("after"),
            *["batch_hash", *SIZES],
        )


def _read_ahead(rows: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Give what was read between two attempts to the later one where it is of it.

    A loader reads before its attempt takes the first step, and the loader of a failed
    attempt what that one never took. Between both, a row is of the later attempt where
    it takes that step, and the earlier had taken it, or ended longer before.

    Args:
        rows: Rows with an attempt, `_by_time` where their time alone tells it.
        attempts: Rows of Attempts.
    """
    by = ["run_id", "attempt"]
    next_one = [
        pl.col(name).shift(-1).over("run_id", order_by="attempt").alias(f"_{name}")
        for name in ("attempt", "start_ns", "first_step")
    ]
    ends = attempts.select(*by, "last_step", *next_one, _ended_ns="end_ns")
    joined = rows.join(ends, on=by, how="left")
    time, step = pl.col("time_ns"), pl.col("step")
    is_taken = step <= pl.col("last_step")
    is_near = pl.col("_start_ns") - time < time - pl.col("_ended_ns")
    moves = (
        pl.col("_by_time")
        & (time > pl.col("_ended_ns"))
        & (step >= pl.col("_first_step"))
        & (is_taken | is_near)
    )
    later = pl.when(moves.fill_null(value=False)).then("_attempt")
    return joined.with_columns(attempt=pl.coalesce(later, "attempt"))


def between(keys: pl.DataFrame, column: str) -> pl.Expr:
    """Return whether a value may be among keys: files that are sorted skip the rest.

    Args:
        keys: The keys.
        column: Column of the value and of the keys.
    """
    values = keys[column]
    low, high = (pl.lit(one, values.dtype) for one in (values.min(), values.max()))
    return pl.col(column).is_between(low, high)
