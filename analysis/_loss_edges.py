"""The time that the ledger books as restart, cut where something happened."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._ledger_evidence import NO_TRACES, Marks, place_known
from analysis._ledger_log import StepLog, read_log
from analysis._ledger_progress import completed_steps, rollbacks, shown_steps
from analysis._ledger_restarts import find_restarts, number_spells
from analysis._ledger_seats import (
    SEAT,
    at_seats,
    number_seats,
    own_seats,
    share_seats,
)
from analysis._ledger_zones import frontiers, zones
from analysis._step_rollup_log import ranked_steps
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.overlap import Overlap
from analysis.placing import in_calendar

_ATTEMPT: Final = ["run_id", "attempt"]

#: What is paid for and neither a rank nor waits for one.
_UNALLOCATED: Final = ("spare", "repair")


class Edges:
    """Where each GPU that was paid for began its first step and ended its last.

    The same steps, seats and zones as in the ledger, so that what is cut here adds up
    to what is booked there.
    """

    def __init__(self, frames: Frames, portion_rows: int) -> None:
        """Read the step logs.

        Args:
            frames: Attempts, allocations, overlap and step timings.
            portion_rows: Rows of step logs to hold at once. [1]
        """
        self._attempts = frames[Attempts]
        steps = in_calendar(ranked_steps(frames), self._attempts)
        self._log: StepLog = read_log(steps, frames[Overlap], portion_rows)
        marks = Marks(self._log, NO_TRACES.lazy())
        self._restarts = find_restarts(marks)
        self.shown = shown_steps(self._placed(one) for one in marks)
        self._fronts = (
            frontiers(self._attempts, self.shown, completed_steps(self.shown))
            .collect()
            .lazy()
        )
        self._seats = (
            number_seats(frames[Allocations], self._log.known.lazy()).collect().lazy()
        )

    def redone(self) -> pl.DataFrame:
        """Return the span of the steps of each attempt that were done again later.

        Returns:
            Columns run_id, attempt, from_ns and to_ns. [ns]
        """
        spell = [*_ATTEMPT, "spell"]
        told = self.shown.join(rollbacks(self.shown), on=spell)
        lost = told.filter(pl.col("step") >= pl.col("redone_from"))
        bounds = (
            pl.col("start_ns").min().alias("from_ns"),
            pl.col("end_ns").max().alias("to_ns"),
        )
        return lost.group_by(_ATTEMPT).agg(bounds).collect()

    def first_steps(self) -> pl.DataFrame:
        """Return when each attempt began its first completed step.

        Returns:
            Columns run_id, attempt and first_start_ns; null where it got nowhere. [ns]
        """
        return self._fronts.select(*_ATTEMPT, "first_start_ns").collect()

    def told(self) -> pl.DataFrame:
        """Return whether it is known when each attempt was training.

        Returns:
            Columns run_id, attempt, is_told (it completed a step, or is known to have
            completed none) and is_lost (none).
        """
        has_step = pl.col("first_step").is_not_null()
        told = self._fronts.select(
            *_ATTEMPT, "is_lost", is_told=has_step | pl.col("is_lost")
        )
        return told.collect()

    def cut(self, cuts: pl.DataFrame) -> pl.DataFrame:
        """Sum up the time before and after the moment that cuts each edge.

        Args:
            cuts: Columns run_id, attempt, side (opening, closing, between) and cut_ns;
                edges without a cut are whole, and before it.

        Returns:
            Columns run_id, attempt, side, before and after, sums over GPUs. Between
            attempts, `attempt` is the one that had ended. [ns]
        """
        parts = [_summed(zoned, cuts) for zoned in self._zoned()]
        sums = pl.concat(parts).group_by(*_ATTEMPT, "side")
        return sums.agg(pl.col("before", "after").sum())

    def _placed(self, marks: pl.LazyFrame) -> pl.LazyFrame:
        return place_known(number_spells(marks, self._restarts), self._attempts)

    def _zoned(self) -> Iterator[pl.LazyFrame]:
        has_rank = pl.col("rank").is_not_null()
        known = [pl.DataFrame(schema={SEAT: pl.UInt32})]
        means = []
        for portion in self._log:
            placed = self._placed(portion).collect().lazy()
            means.append(placed.filter(~has_rank).drop("rank"))
            steps = at_seats(placed.filter(has_rank), self._seats).collect().lazy()
            own = steps.select(SEAT).unique().collect()
            known.append(own)
            yield self._sided(own_seats(self._seats, own.lazy()), steps)
        of_all = pl.concat(means)
        shared = share_seats(self._seats, pl.concat(known).lazy(), of_all)
        shared = shared.collect().lazy()
        takers = shared.filter("has_mean").select(*_ATTEMPT, SEAT)
        taken = of_all.join(takers, on=_ATTEMPT).drop(_ATTEMPT)
        yield self._sided(shared, taken)

    def _sided(self, seats: pl.LazyFrame, steps: pl.LazyFrame) -> pl.LazyFrame:
        """Return the time of some seats before their first step and after their last.

        Returns:
            Columns run_id, attempt, side, start_ns, end_ns and weight. [ns]
        """
        held = seats.filter(~pl.col("role").is_in(_UNALLOCATED))
        zoned = zones(held, steps, self._fronts).collect().lazy()
        ends = self._attempts.select("run_id", from_ns="end_ns", _ended="attempt")
        last = ends.group_by("run_id", "from_ns").agg(pl.col("_ended").max())
        placed = zoned.join(last, on=["run_id", "from_ns"], how="left")
        is_held = pl.col("attempt").is_not_null()
        before = pl.when(is_held).then(pl.lit("opening")).otherwise(pl.lit("between"))
        sides = [
            placed.select(
                "run_id",
                pl.coalesce("attempt", "_ended").alias("attempt"),
                side.alias("side"),
                pl.col(first).alias("start_ns"),
                pl.col(last_).alias("end_ns"),
                "weight",
            )
            for side, first, last_ in (
                (before, "from_ns", "opened_ns"),
                (pl.lit("closing"), "closed_ns", "to_ns"),
            )
        ]
        return pl.concat(sides).filter(pl.col("start_ns") < pl.col("end_ns"))


def _summed(sided: pl.LazyFrame, cuts: pl.DataFrame) -> pl.DataFrame:
    told = sided.join(cuts.lazy(), on=[*_ATTEMPT, "side"], how="left")
    start, end = pl.col("start_ns"), pl.col("end_ns")
    cut = pl.col("cut_ns").fill_null(end).clip(start, end)
    weight = pl.col("weight").cast(pl.Int128)
    sums = told.group_by(*_ATTEMPT, "side").agg(
        before=((cut - start).cast(pl.Int128) * weight).sum(),
        after=((end - cut).cast(pl.Int128) * weight).sum(),
    )
    return sums.collect()
