"""Step logs, in portions that fit in memory whatever the size of the fleet."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._step_rollup_log import RANKS
from ingest.tables import StepTimings

#: Parts of a step's duration, as step logs name them. [ns]
PARTS: Final = (
    StepTimings.checkpoint_ns.name,
    StepTimings.data_ns.name,
    StepTimings.wait_ns.name,
    StepTimings.communication_ns.name,
    StepTimings.compute_ns.name,
)

#: Characters that a trace's identity has of its file's.
TRACE_ID_CHARACTERS: Final = 16

#: Rows of a portion, of which there is one at a time in memory. Sorting and cutting
#: them takes up to about 1 kB for each.
PORTION_ROWS: Final = 2_000_000

_RANK: Final = ["run_id", "rank"]


@dataclass(frozen=True, slots=True)
class StepLog:
    """Rows of step logs as intervals that cover every step they speak of.

    Going through it gives portions: all rows of some ranks, of any number of runs;
    at least one, which may be empty.

    Attributes:
        rows: Columns run_id, attempt, rank (null: the mean over the run), step,
            start_ns, end_ns and PARTS [ns]; ranks, how many a mean is over, where it
            stands for theirs, and RANKS.
        ranks: The ranks of each portion: run_id and rank.
    """

    rows: pl.LazyFrame
    ranks: tuple[pl.DataFrame, ...]

    @property
    def runs(self) -> pl.DataFrame:
        """The runs that have a log: run_id."""
        none = pl.DataFrame(schema={"run_id": pl.String})
        return pl.concat([none, *(one.select("run_id") for one in self.ranks)]).unique()

    @property
    def known(self) -> pl.DataFrame:
        """The ranks that have a log: run_id and rank, null for the mean over a run."""
        return pl.concat(self.ranks)

    def __iter__(self) -> Iterator[pl.LazyFrame]:
        """Read one portion after the other."""
        for ranks in self.ranks:
            run = pl.col("run_id")
            near = self.rows.filter(run.is_between(*_ends(ranks["run_id"])))
            found = near.join(ranks.lazy(), on=_RANK, how="semi", nulls_equal=True)
            yield found.collect().lazy()


def _ends(values: pl.Series) -> tuple[pl.Expr, pl.Expr]:
    return pl.lit(values.min()), pl.lit(values.max())


def read_log(
    steps: pl.LazyFrame, traced: pl.LazyFrame, portion_rows: int = PORTION_ROWS
) -> StepLog:
    """Plan how to read the step logs.

    Traces time steps, too, but they are samples: their rows are left out, because the
    device tells more of the same steps.

    Args:
        steps: Rows of StepTimings.
        traced: Work in traces: trace_id.
        portion_rows: Rows of a portion; the rows of one rank are never parted. [1]
    """
    rows = _covered(steps, traced)
    counted = (
        rows.group_by(_RANK)
        .agg(rows=pl.len().cast(pl.Int64))
        .collect(engine="streaming")
        .sort(_RANK)
    )
    if int(counted["rows"].sum()) <= portion_rows:
        rows = rows.collect().lazy()
    before = pl.col("rows").cum_sum() - pl.col("rows")
    numbered = counted.select(*_RANK, portion=before // portion_rows)
    portions = numbered.partition_by("portion", include_key=False, maintain_order=True)
    return StepLog(rows, tuple(portions) or (counted.select(_RANK),))


def _covered(steps: pl.LazyFrame, traced: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows of logs; one that averages over n steps covers n, parts included."""
    names = steps.collect_schema().names()
    unknown = pl.lit(None, pl.Int64)
    ranks = [
        (pl.col(name) if name in names else unknown).alias(name)
        for name in ("ranks", *RANKS)
    ]
    is_mean = StepTimings.scope.col == "run_mean"
    count = StepTimings.step_count.col.fill_null(1)
    end = StepTimings.start_ns.col + StepTimings.duration_ns.col * count
    trace = StepTimings.file_id.col.str.head(TRACE_ID_CHARACTERS)
    known = steps.filter(is_mean | StepTimings.rank.col.is_not_null())
    logs = known.join(
        traced.select("trace_id").unique(),
        left_on=trace,
        right_on="trace_id",
        how="anti",
    )
    return logs.select(
        *["run_id", "attempt"],
        pl.when(~is_mean).then(StepTimings.rank.col).alias("rank"),
        *["step", "start_ns"],
        end.alias("end_ns"),
        *[pl.col(part) * count for part in PARTS],
        *ranks,
    )
