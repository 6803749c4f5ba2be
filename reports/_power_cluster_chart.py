"""Power of a run's GPUs together over time, with what its steps did."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._numbers import duration, utc
from reports._power_words import UNITS, watts
from reports._section import About, Chart
from reports._sql import literal
from reports._texts import said_by
from reports._words import name, plural
from reports.theme import COLOURS

#: What a step did most, in words, with its colour.
PHASES: Final = {
    "compute": ("compute", COLOURS["productive"]),
    "communication": ("communication", COLOURS["communication"]),
    "wait": ("waiting for ranks", COLOURS["waiting"]),
    "data": ("waiting for input", COLOURS["stalled"]),
    "checkpoint": ("checkpoint", COLOURS["paid"]),
    "not_told": ("step, parts not told", COLOURS["unknown"]),
    "none": ("no step", COLOURS["idle"]),
}

_PROFILE_SQL: Final = """\
SELECT from_ns, width_ns, low_w, mean_w, high_w, phase
FROM power_profiles
WHERE run_id = $run
ORDER BY from_ns"""

_PROFILE: Final = About(
    definition="Sum over GPUs of the last reading of each, on an even grid; not known"
    " where any GPU that is sampled has no reading in force. The strip says what the"
    " step at that time did most, by the step log, as a mean over ranks.",
    source="power samples; zero-order hold; step timings",
    blind_spots="Swings faster than the sensor refreshes, and inside its average. Where"
    " in a step its parts lie is not told by a step log.",
)

_TIPS: Final = (
    ("when", "from"),
    ("means", "mean"),
    ("band", "lowest to highest"),
    ("doing", "steps mostly"),
)


def profile(rows: pl.DataFrame, gpus: int) -> list[Chart]:
    """Return power over time of one run; nothing where it is never known.

    Args:
        rows: Rows of PowerProfiles of one run.
        gpus: GPUs that were sampled.
    """
    from reports.charts import power

    if rows["mean_w"].drop_nulls().is_empty():
        return []
    numbers = rows.sort("from_ns").select(
        "from_ns", "width_ns", "low_w", "mean_w", "high_w", "phase"
    )
    highest = float(str(numbers["high_w"].max()))
    size, unit = next((one for one in UNITS if highest >= one[0]), UNITS[-1])
    run_id, width = str(rows["run_id"][0]), int(numbers["width_ns"][0])
    spec = power.phased(
        _points(numbers, size),
        _spans(numbers),
        f"power of {plural(gpus, 'GPU')} [{unit}]",
        dict(PHASES.values()),
        _TIPS,
    )
    present = numbers["phase"].unique()
    length = int(numbers["from_ns"][-1] + width - numbers["from_ns"][0])
    return [
        Chart(
            name="power-cluster",
            title=f"Power of the run's GPUs together, and what its steps did [{unit}]",
            summary=f"A line of the mean in a band up to {watts(highest)}, over"
            f" {duration(length)}, below a strip of phases.",
            spec=spec,
            numbers=numbers,
            sql=_sql.filled(_PROFILE_SQL, run=literal(run_id)),
            about=_PROFILE,
            sample=f"{plural(gpus, 'GPU')} while run {name(run_id)} held them; a point"
            f" holds {duration(width)}",
            legend={word: c for key, (word, c) in PHASES.items() if key in present},
        )
    ]


def _points(numbers: pl.DataFrame, size: float) -> pl.DataFrame:
    """Return the points, with a hole where no GPU was held."""
    width = int(numbers["width_ns"][0])
    first, last = int(numbers["from_ns"][0]), int(numbers["from_ns"][-1])
    every = pl.int_range(first, last + 1, width, eager=True).alias("from_ns").to_frame()
    points = every.join(numbers, on="from_ns", how="left", maintain_order="left")
    words = {key: word for key, (word, _) in PHASES.items()}
    return points.select(
        at_ms=pl.col("from_ns") / 1e6,
        low=pl.col("low_w") / size,
        mean=pl.col("mean_w") / size,
        high=pl.col("high_w") / size,
        when=said_by("from_ns", utc),
        means=said_by("mean_w", watts),
        band=phrase("{} to {}", said_by("low_w", watts), said_by("high_w", watts)),
        doing=pl.col("phase").replace(words),
    )


def _spans(numbers: pl.DataFrame) -> pl.DataFrame:
    """Return the phases, bins of one phase that follow each other as one."""
    end = pl.col("from_ns") + pl.col("width_ns")
    is_new = (pl.col("phase") != pl.col("phase").shift(1)) | (
        pl.col("from_ns") != end.shift(1)
    )
    words = {key: word for key, (word, _) in PHASES.items()}
    numbered = numbers.with_columns(_span=is_new.fill_null(value=True).cum_sum())
    return (
        numbered.group_by("_span", maintain_order=True)
        .agg(
            from_ms=pl.col("from_ns").min() / 1e6,
            to_ms=end.max() / 1e6,
            phase=pl.col("phase").first().replace(words),
        )
        .drop("_span")
    )
