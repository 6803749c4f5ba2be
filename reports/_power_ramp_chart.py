"""The steepest ramps of a run's power, and which of them a sensor can show."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._numbers import duration
from reports._power_words import UNITS, ramp
from reports._section import About, Chart
from reports._sql import literal
from reports._texts import said_by
from reports._words import name, plural
from reports.theme import COLOURS

_RAMPS_SQL: Final = """\
SELECT window_ns, direction, ramp_w_per_s, observable
FROM (
  SELECT window_ns, 'up' AS direction, ramp_up_w_per_s AS ramp_w_per_s, observable
  FROM power_swings WHERE run_id = $run
  UNION ALL
  SELECT window_ns, 'down', ramp_down_w_per_s, observable
  FROM power_swings WHERE run_id = $run
)
WHERE ramp_w_per_s IS NOT NULL
ORDER BY window_ns, direction DESC"""

_RAMPS: Final = About(
    definition="Greatest (P(t) - P(t - w)) / w of the GPUs together, up and down."
    " Limits are held against the greatest rise or fall from any moment to any other"
    " within w, over w: never less, and more where power went up and came down again.",
    source="ramp rates as in arXiv 2508.14318",
    blind_spots="A swing whose period divides the window has no ramp over it: see the"
    " range in the same window. Grey bars are what a sensor showed that cannot show it"
    " all: the true ramp may be steeper.",
)


def ramps(rows: pl.DataFrame, gpus: int) -> list[Chart]:
    """Return the steepest ramps over each window; nothing where none is known.

    Args:
        rows: Rows of PowerSwings of one run.
        gpus: GPUs that were sampled.
    """
    from reports.charts import bars

    numbers = _ramps(rows)
    if numbers.is_empty():
        return []
    top = float(str(numbers["ramp_w_per_s"].max()))
    size, unit = next((one for one in UNITS if top >= one[0]), UNITS[-1])
    run_id = str(rows["run_id"][0])
    is_seen = pl.col("observable")
    length = said_by(pl.col("window_ns"), duration)
    drawn = numbers.select(
        label=phrase("{} over {}", "direction", length),
        meaning=pl.when(is_seen).then(pl.lit("power")).otherwise(pl.lit("unknown")),
        value=pl.col("ramp_w_per_s") / size,
        text=phrase(
            "{}{}",
            said_by("ramp_w_per_s", ramp),
            pl.when(is_seen).then(pl.lit("")).otherwise(pl.lit(", not observable")),
        ),
    )
    return [
        Chart(
            name="power-ramps",
            title=f"Steepest ramps of the run's power, by window [{unit}/s]",
            summary=f"{plural(drawn.height, 'bar')}, the steepest"
            f" {ramp(top)}; {int((~numbers['observable']).sum())} not observable.",
            spec=bars.ranking(
                drawn, f"ramp [{unit}/s]", (("label", "ramp"), ("text", "is"))
            ),
            numbers=numbers,
            sql=_sql.filled(_RAMPS_SQL, run=literal(run_id)),
            about=_RAMPS,
            sample=f"{plural(gpus, 'GPU')} of run {name(run_id)}",
            legend={
                "observable": COLOURS["power"],
                "shown by a sensor that cannot show it all": COLOURS["unknown"],
            },
        )
    ]


def _ramps(rows: pl.DataFrame) -> pl.DataFrame:
    parts = [
        rows.select(
            "window_ns",
            direction=pl.lit(direction),
            ramp_w_per_s=pl.col(f"ramp_{direction}_w_per_s"),
            observable="observable",
        )
        for direction in ("up", "down")
    ]
    known = pl.concat(parts).drop_nulls("ramp_w_per_s")
    return known.sort(["window_ns", "direction"], descending=[False, True])
