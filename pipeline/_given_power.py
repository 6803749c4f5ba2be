"""Days of a generated cluster's power, made in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import polars as pl

from analysis._rollup import Bounds
from ingest.staging import Place
from ingest.synthetic.cluster.power import PowerRecorder
from ingest.synthetic.cluster.power_days import PowerDay
from ingest.tables import PowerSamples
from ingest.times import day_name
from pipeline._given import GivenDay


def given_power(days: Sequence[PowerDay], key: str, spool: Path) -> Iterator[GivenDay]:
    """Yield days of power as rollups read them.

    Args:
        days: The days.
        key: What stands for their cluster.
        spool: Folder for the samples of the day that is read.
    """
    recordings = _Recordings(spool)
    for day in days:
        begin, end = day.span_ns
        yield GivenDay(
            table=PowerSamples,
            place=Place(day.cluster.scenario.cluster, day_name(begin)),
            key=f"{key} power {begin} {end} {day.interval_ns}",
            rows=day.rows,
            read=partial(_read, recordings, day),
            find=partial(_find, recordings, day),
        )


@dataclass(slots=True)
class _Recordings:
    """The samples of the day that was read last: rollups of a day share them.

    Attributes:
        spool: Folder that they are in.
    """

    spool: Path
    _held: tuple[PowerDay, PowerRecorder] | None = field(init=False, default=None)

    def of(self, day: PowerDay) -> PowerRecorder:
        """Sample a day, unless it was the last one."""
        if self._held is None or self._held[0] is not day:
            self._held = None
            self._held = day, day.record(self.spool)
        return self._held[1]


def _read(
    recordings: _Recordings,
    day: PowerDay,
    columns: Sequence[str],
    bounds: Bounds | None,
) -> Iterator[pl.DataFrame]:
    """Make the samples of a day, those within bounds of time or all."""
    recorder = recordings.of(day)
    if bounds is None:
        yield from day.frames(recorder, columns)
        return
    yield from day.found(recorder, columns, pl.col("time_ns").is_between(*bounds))


def _find(
    recordings: _Recordings,
    day: PowerDay,
    columns: Sequence[str],
    wanted: pl.Expr | None,
) -> Iterator[pl.DataFrame]:
    yield from day.found(recordings.of(day), columns, wanted)
