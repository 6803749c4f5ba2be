"""Steps of each rank and hour: partial sums that are added up as windows come."""

from dataclasses import dataclass, field
from typing import Final

import polars as pl

from analysis._step_rollup_columns import PARTS
from analysis._step_rollup_medians import Hour, WorkOfRanks, medians_of
from ingest.times import HOUR_NS

#: What tells an hour of a rank.
SEAT: Final = ("attempt", "hour_ns", "rank")

#: Sums of a rank and an hour, and their types.
SUMS: Final = {
    "attempt": pl.Int32,
    "hour_ns": pl.Int64,
    "rank": pl.Int32,
    "steps": pl.Int64,
    "first_step": pl.Int64,
    "last_step": pl.Int64,
    "start_ns": pl.Int64,
    "end_ns": pl.Int64,
    "duration_ns_total": pl.Int64,
    **{f"{part}_total": pl.Int64 for part in PARTS},
    "known_steps": pl.Int64,
    "slowest_work_ns": pl.Int64,
}

_MEDIANS: Final = {
    "attempt": pl.Int32,
    "hour_ns": pl.Int64,
    "rank": pl.Int32,
    "typical_work_ns": pl.Int64,
    "median_steps": pl.Int64,
}

#: Partial sums that are held before they are added up. [1]
_MOST_SUMS: Final = 500_000


@dataclass(slots=True)
class Hours:
    """What ranks did in each hour.

    Own work is held for as long as windows come that have steps of the hour or of an
    earlier one, since a median needs it all.
    """

    _sums: list[pl.DataFrame] = field(default_factory=list)
    _added_up: list[pl.DataFrame] = field(default_factory=list)
    _work: dict[Hour, list[WorkOfRanks | pl.DataFrame]] = field(default_factory=dict)
    _medians: list[pl.DataFrame] = field(default_factory=list)

    def add(self, sums: pl.DataFrame) -> None:
        """Add partial sums: the columns of SUMS."""
        self._sums.append(sums)
        if sum(one.height for one in self._sums) > _MOST_SUMS:
            # hours hardly come again: what was added up is not touched until the end
            self._added_up.append(_added_up(self._sums))
            self._sums.clear()

    def hold(self, hour: Hour, work: WorkOfRanks | pl.DataFrame) -> None:
        """Hold own work of an hour: of ranks side by side, or a rank in each row."""
        self._work.setdefault(hour, []).append(work)

    def take(self, others: "Hours") -> None:
        """Take over what others have, none of whose hours is closed."""
        for sums in others._sums:
            self.add(sums)
        for hour, pieces in others._work.items():
            self._work.setdefault(hour, []).extend(pieces)

    def close_before(self, attempt: int | None, hour_ns: int) -> None:
        """Close the hours of which no step will come: those before one. [ns]"""
        for hour in list(self._work):
            if hour[0] != attempt or hour[1] < hour_ns:
                self._medians.append(medians_of(hour, self._work.pop(hour)))

    def result(self) -> pl.DataFrame:
        """Return the columns of SUMS and typical_work_ns, unsorted."""
        for hour in list(self._work):
            self._medians.append(medians_of(hour, self._work.pop(hour)))
        medians = pl.concat([pl.DataFrame(schema=_MEDIANS), *self._medians])
        order = [*SEAT, "median_steps", "typical_work_ns"]
        best = medians.sort(order, descending=[False, False, False, True, True])
        known = best.unique(SEAT, keep="first").drop("median_steps")
        return _added_up([*self._added_up, *self._sums]).join(
            known, on=list(SEAT), how="left", nulls_equal=True
        )


def row_sums(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the partial sums of rows of ranks, hour by hour.

    Args:
        rows: What `number_occurrences` returns, of ranks.
    """
    hour = pl.col("start_ns") // HOUR_NS * HOUR_NS
    grouped = rows.with_columns(hour_ns=hour).group_by(SEAT)
    return grouped.agg(
        pl.len().cast(pl.Int64).alias("steps"),
        pl.col("step").min().alias("first_step"),
        pl.col("step").max().alias("last_step"),
        pl.col("start_ns").min(),
        pl.col("end_ns").max(),
        pl.col("duration_ns").sum().alias("duration_ns_total"),
        *[_sum_where_told(part, f"{part}_total") for part in PARTS],
        pl.col("work_ns").count().cast(pl.Int64).alias("known_steps"),
        pl.col("work_ns").max().alias("slowest_work_ns"),
    ).select(list(SUMS))


def hold_rows(hours: Hours, rows: pl.DataFrame) -> None:
    """Hold the own work of rows of ranks, hour by hour."""
    hour = pl.col("start_ns") // HOUR_NS * HOUR_NS
    known = rows.select("attempt", "rank", "work_ns", hour_ns=hour).drop_nulls(
        "work_ns"
    )
    for piece in known.partition_by("attempt", "hour_ns", maintain_order=True):
        attempt, hour_ns = piece["attempt"][0], piece["hour_ns"][0]
        hours.hold((attempt, hour_ns), piece.select("rank", "work_ns"))


def _added_up(sums: list[pl.DataFrame]) -> pl.DataFrame:
    rows = pl.concat([pl.DataFrame(schema=SUMS), *sums])
    totals = ["duration_ns_total", *[f"{part}_total" for part in PARTS]]
    grouped = rows.group_by(SEAT).agg(
        pl.col("steps").sum(),
        pl.col("first_step").min(),
        pl.col("last_step").max(),
        pl.col("start_ns").min(),
        pl.col("end_ns").max(),
        *[_sum_where_told(total, total) for total in totals],
        pl.col("known_steps").sum(),
        pl.col("slowest_work_ns").max(),
    )
    return grouped.select(list(SUMS))


def _sum_where_told(column: str, name: str) -> pl.Expr:
    known = pl.col(column).count() > 0
    return pl.when(known).then(pl.col(column).sum()).alias(name)
