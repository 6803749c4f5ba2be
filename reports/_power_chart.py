"""Power over time: the mean GPU, and the band from the lowest to the highest."""

from typing import Final

import polars as pl

from analysis import Frames
from ingest.tables import PowerSamples
from reports import _sql
from reports._numbers import duration, significant, utc
from reports._section import Chart
from reports._words import plural

#: Points that are still seen on a phone.
_MOST_BINS: Final = 120

_SQL: Final = """\
SELECT time_ns // $width * $width AS from_ns,
       min(power_w) AS low_w, avg(power_w) AS mean_w, max(power_w) AS high_w
FROM (
  SELECT time_ns, coalesce(power_instant_w, power_average_w) AS power_w
  FROM power_samples WHERE level = 'gpu_board'
)
WHERE power_w IS NOT NULL
GROUP BY from_ns
ORDER BY from_ns"""


def chart(frames: Frames) -> list[Chart]:
    """Return power over time of all GPUs; nothing where nothing was sampled.

    Args:
        frames: The tables.
    """
    from reports.charts import times

    samples = (
        frames[PowerSamples]
        .filter(PowerSamples.level.col == "gpu_board")
        .select(
            "time_ns",
            "host",
            "gpu_uuid",
            power_w=pl.coalesce("power_instant_w", "power_average_w"),
        )
        .drop_nulls("power_w")
    )
    first, last, seen = (
        samples.select(
            pl.col("time_ns").min(),
            pl.col("time_ns").max().alias("last"),
            pl.struct("host", "gpu_uuid").n_unique().alias("seen"),
        )
        .collect()
        .row(0)
    )
    if first is None or first == last:
        return []
    width = -(-(last - first + 1) // _MOST_BINS)
    numbers = _numbers(samples, width)
    drawn = numbers.select(
        at_ms=pl.col("from_ns") / 1e6,
        low="low_w",
        mean="mean_w",
        high="high_w",
        when=pl.col("from_ns").map_elements(utc, return_dtype=pl.String),
        means=_spoken("mean_w"),
        band=_spoken("low_w") + pl.lit(" to ") + _spoken("high_w"),
    )
    tips = (("when", "from"), ("means", "mean W"), ("band", "lowest to highest W"))
    return [
        Chart(
            name="energy-power",
            title="Power of a GPU over time: mean, lowest and highest [W]",
            summary=f"A line of the mean in a band, over {duration(last - first)}.",
            spec=times.band(drawn, "power of a GPU [W]", tips),
            numbers=numbers,
            sql=_sql.filled(_SQL, width=str(width)),
            definition=f"Samples of {duration(width)} together: their mean, lowest and"
            " highest. Instant power where a source has it, else its one-second mean.",
            source="power samples as sources gave them, sentinels left out",
            sample=f"{plural(seen, 'GPU')}, every sample of the lake, also outside"
            " runs",
            blind_spots="Swings faster than the sensor refreshes are not in it; gaps"
            " are drawn as a straight line.",
        )
    ]


def _numbers(samples: pl.LazyFrame, width: int) -> pl.DataFrame:
    power = pl.col("power_w")
    return (
        samples.group_by(from_ns=pl.col("time_ns") // width * width)
        .agg(low_w=power.min(), mean_w=power.mean(), high_w=power.max())
        .sort("from_ns")
        .collect()
    )


def _spoken(column: str) -> pl.Expr:
    return pl.col(column).map_elements(significant, return_dtype=pl.String)
