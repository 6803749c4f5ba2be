"""Samples of one device, by what is odd about it."""

from collections.abc import Callable, Set
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from ingest.times import SECOND_NS

Times = npt.NDArray[np.int64]
Values = dict[str, npt.NDArray[Any]]
Draw = np.random.Generator

#: Columns that a source may tell.
COLUMNS: Final = (
    *("power_average_w", "power_instant_w", "power_limit_w", "energy_mj"),
    *("temperature_c", "sm_clock_mhz", "throttle_reasons", "throttle_power_ns"),
    *("throttle_thermal_ns", "last_xid", "utilization_ratio"),
)

_REASONS: Final = (0, 0, 0x1, 0x4, 0x8, 0x20, 0x40, 0x80)


def odd_rows(times: Times, known: Set[str], odd: Set[str], draw: Draw) -> pl.DataFrame:
    """Samples of a device.

    Args:
        times: When it is sampled. [ns]
        known: Columns that are told.
        odd: What is odd, of ODDITIES.
        draw: Draws values.
    """
    if "jitter" in odd:
        times = times + draw.integers(0, 900_000_000, times.size)
    if "lost" in odd:
        times = times[draw.random(times.size) > 0.2]
    values = _values(times, draw)
    for name, change in _VALUES.items():
        if name in odd:
            change(values)
    quality = odd & {"zone_assumed", "resampled", "file_time"}
    rows = pl.DataFrame(
        {"time_ns": times} | {c: v for c, v in values.items() if c in known},
        schema_overrides={"time_ns": pl.Int64()},
    ).with_columns(
        file_id=pl.lit("one"),
        time_quality=pl.lit(min(quality, default="exact")),
        series=pl.lit(None, pl.String),
        series_count=pl.lit(2 if "copies" in odd else None, pl.Int64),
    )
    if "blank" in odd:
        is_told = pl.Series(draw.random(times.size) > 0.1)
        rows = rows.with_columns(
            pl.when(is_told).then(name).alias(name) for name in sorted(known)
        )
    for name, turn in _ROWS.items():
        if name in odd:
            rows = turn(rows)
    return rows


def _values(times: Times, draw: Draw) -> Values:
    """Values by column: power that moves, counters that rise with it."""
    n = times.size
    power = np.round(draw.uniform(100, 650, n), 2)
    joules = np.diff(times, prepend=times[:1]) / SECOND_NS * power
    return {
        "power_average_w": power,
        "power_instant_w": np.round(power + draw.normal(0, 5, n), 2),
        "power_limit_w": np.full(n, 700.0),
        "energy_mj": np.cumsum(joules * 1_000).astype(np.int64) + 10**8,
        "temperature_c": draw.integers(30, 80, n).astype(np.float64),
        "sm_clock_mhz": draw.integers(900, 1_980, n).astype(np.float64),
        "throttle_reasons": draw.choice(_REASONS, n),
        "throttle_power_ns": np.cumsum(draw.integers(0, 3, n) * SECOND_NS),
        "throttle_thermal_ns": np.cumsum(draw.integers(0, 30, n) * SECOND_NS),
        "last_xid": np.zeros(n, dtype=np.int64),
        "utilization_ratio": np.round(draw.random(n), 2),
    }


def _still(values: Values) -> None:
    values["power_average_w"][values["power_average_w"].size // 3 :] = 400.5


def _repeats(values: Values) -> None:
    power = values["power_average_w"]
    values["power_average_w"] = np.repeat(power, 2)[: power.size]


def _above(values: Values) -> None:
    _later(values["power_average_w"])[:1] = 5_000


def _reset(values: Values) -> None:
    for name in ("energy_mj", "throttle_power_ns"):
        later = _later(values[name])
        later -= later[:1].copy()


def _jump(values: Values) -> None:
    _later(values["energy_mj"])[:] += 10**9


def _xid(values: Values) -> None:
    _later(values["last_xid"])[1:] = 79


def _no_limit(values: Values) -> None:
    values["power_limit_w"][:] = 0


def _later(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return column[column.size // 2 :]


_VALUES: Final[dict[str, Callable[[Values], None]]] = {
    "still": _still,
    "repeats": _repeats,
    "above": _above,
    "reset": _reset,
    "jump": _jump,
    "xid": _xid,
    "no limit": _no_limit,
}


def _two_files(rows: pl.DataFrame) -> pl.DataFrame:
    is_later = pl.int_range(pl.len()) >= pl.len() // 2
    return rows.with_columns(
        file_id=pl.when(is_later).then(pl.lit("two")).otherwise("file_id")
    )


def _two_sources(rows: pl.DataFrame) -> pl.DataFrame:
    time = pl.col("time_ns") + 3 * SECOND_NS
    return pl.concat([rows, rows.with_columns(time_ns=time, file_id=pl.lit("two"))])


def _twice(rows: pl.DataFrame) -> pl.DataFrame:
    again = rows.head(rows.height // 2).with_columns(series=pl.lit("again"))
    return pl.concat([rows, again])


def _series(rows: pl.DataFrame) -> pl.DataFrame:
    """Give each column in rows of its own."""
    columns = [name for name in rows.columns if name in COLUMNS]
    others = [pl.exclude(*COLUMNS, "series")]
    return pl.concat(
        [rows.select(*others, name, series=pl.lit(name)) for name in columns],
        how="diagonal",
    )


_ROWS: Final[dict[str, Callable[[pl.DataFrame], pl.DataFrame]]] = {
    "two files": _two_files,
    "two sources": _two_sources,
    "twice": _twice,
    "series": _series,
}

#: What may be odd about a device; times of files are a matter of their own.
ODDITIES: Final = (
    *_VALUES,
    *_ROWS,
    *("jitter", "lost", "zone_assumed", "resampled", "copies", "blank", "module"),
)
