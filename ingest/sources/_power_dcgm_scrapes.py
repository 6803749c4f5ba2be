"""Gather the samples of scrapes into one row per GPU and time."""

from dataclasses import dataclass, field
from typing import Final

import polars as pl

from ingest.sources._power_dcgm_fields import Field, Number, combine
from ingest.sources._power_dcgm_series import BrokenLineError, Series
from ingest.sources._source import Reading
from ingest.tables import PowerSamples

#: Rows that are held while more of their samples may come: eight scrapes of a thousand
#: nodes with eight GPUs each; some 60 MB. A file in another order than that of time
#: gives whole rows up to this size.
HELD_ROWS: Final = 65_536

_COLUMNS: Final = {
    column.name: pl.Schema(PowerSamples)[column.name]
    for column in (
        PowerSamples.power_average_w,
        PowerSamples.power_instant_w,
        PowerSamples.power_limit_w,
        PowerSamples.energy_mj,
        PowerSamples.temperature_c,
        PowerSamples.memory_temperature_c,
        PowerSamples.sm_clock_mhz,
        PowerSamples.throttle_reasons,
        PowerSamples.throttle_power_ns,
        PowerSamples.throttle_thermal_ns,
        PowerSamples.utilization_ratio,
    )
}

_Key = tuple[int | None, str | None, str | None]


@dataclass(slots=True)
class _Sampled:
    """A GPU at one time: the line of its first sample, and its fields."""

    line: int
    cells: dict[Field, Number] = field(default_factory=dict)


class Scrapes:
    """The rows that are being gathered.

    Whole-board values come once for each MIG instance, time slice and pod, so a GPU is
    its UUID, whatever else the labels say. Where such series differ they were read at
    slightly different moments, and the largest is kept: of a counter it is the latest.
    """

    def __init__(self, reading: Reading) -> None:
        """Start with none."""
        self._conflicts = 0
        self._reading = reading
        self._held: dict[_Key, _Sampled] = {}

    def add(
        self, line: int, series: Series, value: Number, time_ns: int | None
    ) -> None:
        """Add a sample of a field that is stored.

        Raises:
            BrokenLineError: If the field cannot have the value, or if the series had
                another without a time: the time of a second scrape is not known.
        """
        if series.field is None:
            return
        try:
            converted = series.field.convert(value)
        except ValueError as error:
            message = f"{series.field.column}|value"
            raise BrokenLineError(message) from error
        if time_ns is None and converted is not None:
            if series.last not in {None, converted}:
                message = "time_ns|required"
                raise BrokenLineError(message)
            series.last = converted
        key = (time_ns, series.host, series.gpu)
        cells = self._held.setdefault(key, _Sampled(line)).cells
        if converted is not None:
            known = cells.setdefault(series.field, converted)
            self._conflicts += known != converted
            cells[series.field] = max(known, converted)

    def take_conflicts(self) -> int:
        """Return how many samples differed from another of their GPU, since last."""
        conflicts, self._conflicts = self._conflicts, 0
        return conflicts

    def take(self, *, everything: bool) -> pl.DataFrame | None:
        """Return rows that are complete; None where there are none.

        Args:
            everything: Whether no more samples will come. Before, only the oldest
                half is taken, and only once too many are held.
        """
        count = len(self._held)
        if not everything:
            count = count // 2 if count > HELD_ROWS else 0
        if not count:
            return None
        keys = list(self._held)[:count]
        return self._frame([(key, self._held.pop(key)) for key in keys])

    def _frame(self, rows: list[tuple[_Key, _Sampled]]) -> pl.DataFrame:
        times = [time_ns for (time_ns, _, _), _ in rows]
        untimed = pl.col(PowerSamples.time_ns.name).is_null()
        frame = pl.DataFrame(
            {
                PowerSamples.time_ns.name: pl.Series(times, dtype=pl.Int64),
                PowerSamples.host.name: pl.Series([h for (_, h, _), _ in rows]),
                PowerSamples.gpu_uuid.name: [gpu for (_, _, gpu), _ in rows],
                "place": [f"line {sampled.line}" for _, sampled in rows],
            }
            | {
                name: pl.Series([combine(s.cells, name) for _, s in rows], dtype=dtype)
                for name, dtype in _COLUMNS.items()
            },
            schema_overrides={PowerSamples.host.name: pl.String},
        )
        return frame.with_columns(
            pl.lit(self._reading.cluster).alias(PowerSamples.cluster.name),
            pl.lit("gpu_board").alias(PowerSamples.level.name),
            pl.when(untimed)
            .then(pl.lit("file_time"))
            .otherwise(pl.lit("exact"))
            .alias(PowerSamples.time_quality.name),
            pl.col(PowerSamples.time_ns.name).fill_null(self._reading.modified_ns),
        )
