"""Power over time: the mean GPU, and the band from the lowest to the highest."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis import Frames
from analysis.fleet_power import FleetPower
from analysis.power_days import PowerDays
from ingest.phrases import phrase
from ingest.tables import PowerSamples
from reports import _runs
from reports._numbers import duration, significant, utc
from reports._power_readings import SEMANTICS, Condensed, Readings, Sampled
from reports._section import Chart, Scope
from reports._texts import said_by
from reports._words import name, plural

#: Points that are still seen on a phone.
_MOST_BINS: Final = 120

#: Points that are enough for a line, once bins are as wide as samples are apart.
_FEWEST_POINTS: Final = 10

_TIPS: Final = (("when", "from"), ("means", "mean W"), ("band", "lowest to highest W"))


def chart(frames: Frames, scope: Scope) -> list[Chart]:
    """Return power over time of all GPUs; nothing where nothing was sampled.

    Args:
        frames: The tables.
        scope: Runs of the page: the dearest that was sampled gives the period.
    """
    from reports.charts import times

    during, readings = _during_a_run(frames, scope)
    first, last, gpus = readings.extent()
    if first == last:
        return []
    width, numbers = _binned(readings, last - first)
    if not _has_line(numbers, width):
        return []
    each = duration(width)
    return [
        Chart(
            name="energy-power",
            title="Power of a GPU over time: mean, lowest and highest [W]",
            summary=f"A line of the mean in a band, over {duration(last - first)}.",
            spec=times.band(_drawn(numbers, width), "power of a GPU [W]", _TIPS),
            numbers=numbers,
            sql=readings.sql(width=str(width), first=str(first), last=str(last)),
            about=readings.about,
            sample=f"{plural(gpus, 'GPU')} {during}; a point holds {each}",
        )
    ]


def why_not(frames: Frames, scope: Scope) -> list[str]:
    """Return why power over time is not drawn; nothing where there is none.

    Args:
        frames: The tables.
        scope: Runs of the page.
    """
    _, readings = _during_a_run(frames, scope)
    first, last, gpus = readings.extent()
    if not gpus:
        return []
    over = f", over {duration(last - first)}," if last > first else ""
    seen = f"samples of {plural(gpus, 'GPU')}{over} are too few or too far apart"
    return [f"Power over time is not drawn: {seen} for a line."]


def _binned(readings: Readings, length: int) -> tuple[int, pl.DataFrame]:
    """Return the width of bins and their power: as wide as samples are apart. [ns]"""
    width = readings.width(-(-(length + 1) // _MOST_BINS))
    numbers = readings.numbers(width)
    steps = numbers["from_ns"].diff().drop_nulls()
    if numbers.height < _FEWEST_POINTS:
        return width, numbers
    usual = int(steps.sort()[len(steps) // 2])
    return usual, numbers if usual == width else readings.numbers(usual)


def _has_line(numbers: pl.DataFrame, width: int) -> bool:
    """Whether any two points stand side by side, so that a line joins them."""
    return bool((numbers["from_ns"].diff() == width).any())


def _during_a_run(frames: Frames, scope: Scope) -> tuple[str, Readings]:
    """Return the readings during the dearest run that has any, else all there are."""
    every = list(_readings_of(frames))
    spans = _runs.spans(frames, scope)
    for run_id in _runs.order(frames, scope):
        start, end = spans.get(run_id, (0, 0))
        for readings in every:
            among = readings.among(start, end)
            if among.has_any():
                return f"during run {name(run_id)}", among
    first = next((one for one in every if one.has_any()), every[-1])
    return "whenever sampled", first


def _readings_of(frames: Frames) -> Iterator[Readings]:
    """Yield the readings of boards: those of condensed days first, as they are more."""
    is_board = pl.col("level") == "gpu_board"
    points = frames[FleetPower].filter(is_board, pl.col("readings_count") > 0)
    kinds = points.group_by("semantics").agg(pl.col("grid_ns").max()).collect()
    grids = dict(kinds.iter_rows())
    semantics = next((one for one in SEMANTICS if one in grids), None)
    if semantics is not None:
        yield Condensed(
            points.filter(pl.col("semantics") == semantics),
            frames[PowerDays].filter(is_board),
            semantics,
            grids[semantics],
        )
    power = pl.coalesce("power_instant_w", "power_average_w")
    boards = frames[PowerSamples].filter(is_board)
    columns = boards.select("time_ns", "host", "gpu_uuid", power_w=power)
    yield Sampled(columns.drop_nulls("power_w"))


def _drawn(numbers: pl.DataFrame, width: int) -> pl.DataFrame:
    """Return the points with gaps between them where nothing was sampled."""
    first, last = numbers["from_ns"][0], numbers["from_ns"][-1]
    every = pl.int_range(first, last + 1, width, eager=True).alias("from_ns").to_frame()
    points = every.join(numbers, on="from_ns", how="left", maintain_order="left")
    low, high = said_by("low_w", significant), said_by("high_w", significant)
    return points.select(
        at_ms=pl.col("from_ns") / 1e6,
        low="low_w",
        mean="mean_w",
        high="high_w",
        when=said_by("from_ns", utc),
        means=said_by("mean_w", significant),
        band=phrase("{} to {}", low, high),
    )
