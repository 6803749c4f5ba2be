"""Power over time: the mean GPU, and the band from the lowest to the highest."""

from typing import Final

import polars as pl

from analysis import Frames
from ingest.phrases import phrase
from ingest.tables import PowerSamples
from reports import _runs, _sql
from reports._numbers import duration, significant, utc
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import name, plural

#: Points that are still seen on a phone.
_MOST_BINS: Final = 120

#: Points that are enough for a line, once bins are as wide as samples are apart.
_FEWEST_POINTS: Final = 10

_SQL: Final = """\
SELECT time_ns // $width * $width AS from_ns,
       min(power_w) AS low_w, avg(power_w) AS mean_w, max(power_w) AS high_w
FROM (
  SELECT time_ns, coalesce(power_instant_w, power_average_w) AS power_w
  FROM power_samples
  WHERE level = 'gpu_board' AND time_ns BETWEEN $first AND $last
)
WHERE power_w IS NOT NULL
GROUP BY from_ns
ORDER BY from_ns"""

_ABOUT: Final = About(
    definition="Samples of a point in time together: their mean, lowest and highest."
    " Instant power where a source has it, else its one-second mean.",
    source="power samples as sources gave them, sentinels left out",
    blind_spots="Swings faster than the sensor refreshes are not in it.",
)

_TIPS: Final = (("when", "from"), ("means", "mean W"), ("band", "lowest to highest W"))


def chart(frames: Frames, scope: Scope) -> list[Chart]:
    """Return power over time of all GPUs; nothing where nothing was sampled.

    Args:
        frames: The tables.
        scope: Runs of the page: the dearest that was sampled gives the period.
    """
    from reports.charts import times

    during, samples = _during_a_run(frames, scope)
    first, last, gpus = _extent(samples)
    if first == last:
        return []
    width, numbers = _binned(samples, last - first)
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
            sql=_sql.filled(_SQL, width=str(width), first=str(first), last=str(last)),
            about=_ABOUT,
            sample=f"{plural(gpus, 'GPU')} {during}; a point holds {each}",
        )
    ]


def why_not(frames: Frames, scope: Scope) -> list[str]:
    """Return why power over time is not drawn; nothing where there is none.

    Args:
        frames: The tables.
        scope: Runs of the page.
    """
    _, samples = _during_a_run(frames, scope)
    first, last, gpus = _extent(samples)
    if not gpus:
        return []
    over = f", over {duration(last - first)}," if last > first else ""
    seen = f"samples of {plural(gpus, 'GPU')}{over} are too few or too far apart"
    return [f"Power over time is not drawn: {seen} for a line."]


def _binned(samples: pl.LazyFrame, length: int) -> tuple[int, pl.DataFrame]:
    """Return the width of bins and their power: as wide as samples are apart. [ns]"""
    width = -(-(length + 1) // _MOST_BINS)
    numbers = _numbers(samples, width)
    steps = numbers["from_ns"].diff().drop_nulls()
    if numbers.height < _FEWEST_POINTS:
        return width, numbers
    usual = int(steps.sort()[len(steps) // 2])
    return usual, numbers if usual == width else _numbers(samples, usual)


def _has_line(numbers: pl.DataFrame, width: int) -> bool:
    """Whether any two points stand side by side, so that a line joins them."""
    return bool((numbers["from_ns"].diff() == width).any())


def _during_a_run(frames: Frames, scope: Scope) -> tuple[str, pl.LazyFrame]:
    samples = _samples(frames)
    spans = _runs.spans(frames, scope)
    for run_id in _runs.order(frames, scope):
        start, end = spans.get(run_id, (0, 0))
        among = samples.filter(pl.col("time_ns").is_between(start, end))
        if not among.head(1).collect().is_empty():
            return f"during run {name(run_id)}", among
    return "whenever sampled", samples


def _samples(frames: Frames) -> pl.LazyFrame:
    power = pl.coalesce("power_instant_w", "power_average_w")
    boards = frames[PowerSamples].filter(PowerSamples.level.col == "gpu_board")
    return boards.select("time_ns", "host", "gpu_uuid", power_w=power).drop_nulls(
        "power_w"
    )


def _extent(samples: pl.LazyFrame) -> tuple[int, int, int]:
    extent = samples.select(
        first=pl.col("time_ns").min(),
        last=pl.col("time_ns").max(),
        gpus=pl.struct("host", "gpu_uuid").n_unique(),
    )
    first, last, gpus = extent.collect().row(0)
    return first or 0, last or 0, gpus


def _numbers(samples: pl.LazyFrame, width: int) -> pl.DataFrame:
    power = pl.col("power_w")
    return (
        samples.group_by(from_ns=pl.col("time_ns") // width * width)
        .agg(low_w=power.min(), mean_w=power.mean(), high_w=power.max())
        .sort("from_ns")
        .collect()
    )


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
