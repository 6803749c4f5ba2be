"""Whether the power of each run keeps the limits that a site sets."""

from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._power_verdicts import LIMITS, judged, measured
from analysis.power_shapes import PowerBands, PowerShapes
from analysis.power_swings import PowerSwings
from ingest.tables import RunCards, Table
from ingest.tables import _columns as c

#: Share of AC energy allowed in the band that is watched, as an example.
#: Source: arXiv 2508.14318, which caps what is in the critical band.
BAND_ENERGY_RATIO: Final = 0.2

#: No limit: ramps and ranges are set by each site, and nobody else can tell them.
NO_LIMIT: Final = 0.0

#: What each limit is unless a run card says otherwise.
DEFAULTS: Final = {
    "ramp_up_w_per_s": NO_LIMIT,
    "ramp_down_w_per_s": NO_LIMIT,
    "dynamic_range_w": NO_LIMIT,
    "band_energy_ratio": BAND_ENERGY_RATIO,
}


class PowerLimits(Table):
    """One row per run, limit and window: kept, broken, or not to be seen."""

    key: ClassVar = ("run_id", "limit_name", "window_ns")

    run_id = c.identifier("Run.")
    limit_name = c.choice("What is limited.", tuple(LIMITS))
    window_ns = c.duration_ns(
        "Window that a ramp or a range is taken in; null for a band.", nullable=True
    )
    measured = c.real(
        "What the sensors showed: the greatest rise, or fall, within any such window"
        " over its length; the range in a minute; or the share of the band.",
        nullable=True,
    )
    allowed = c.real("The limit; null where none is set.", nullable=True)
    unit = c.choice("Unit of both.", ("W/s", "W", "1"))
    limit_basis = c.choice(
        "Who set the limit.", ("run_card", "setting", "example", "none")
    )
    verdict = c.choice(
        "`pass` only where the sensor would have shown a breach (a mean over a second"
        " shows none that swings within it could make); `fail` where it showed"
        " one, or where what it showed is beyond the limit over the longest time that"
        " it may have taken: the window, a refresh, and the time of averaging.",
        ("pass", "fail", "not_observable", "no_limit"),
    )
    reason = c.text("Why it is not observable, or what is known all the same.")


def check_limits(frames: Frames, thresholds: Thresholds) -> Results:
    """Hold the swings of every run against its limits."""
    rows = measured(
        frames[PowerSwings].collect(),
        frames[PowerBands].collect(),
        frames[PowerShapes].collect(),
    )
    limits = _limits(rows, frames[RunCards].collect(), thresholds)
    told = judged(limits).select(PowerLimits.column_names()).sort(PowerLimits.key)
    return {PowerLimits: PowerLimits.validate(told, cast=True)}


def _limits(
    rows: pl.DataFrame, cards: pl.DataFrame, thresholds: Thresholds
) -> pl.DataFrame:
    """Add the limit of each row: the card's, else the setting's, else an example."""
    of_card = cards.select(
        "run_id", *(pl.col(f"power_{name}").alias(name) for name in DEFAULTS)
    ).unpivot(index="run_id", variable_name="_of", value_name="_card")
    names = pl.DataFrame(
        [
            {
                "limit_name": name,
                "_of": of,
                "_set": thresholds[f"power_limit_{of}"] or None,
                "_default": DEFAULTS[of] or None,
            }
            for name, of in LIMITS.items()
        ],
        schema_overrides={"_set": pl.Float64(), "_default": pl.Float64()},
    )
    joined = rows.join(names, on="limit_name").join(
        of_card, on=["run_id", "_of"], how="left"
    )
    basis = (
        pl.when(pl.col("_card").is_not_null())
        .then(pl.lit("run_card"))
        .when(pl.col("_set").is_null())
        .then(pl.lit("none"))
        .when(pl.col("_set") == pl.col("_default"))
        .then(pl.lit("example"))
        .otherwise(pl.lit("setting"))
    )
    return joined.with_columns(allowed=pl.coalesce("_card", "_set"), limit_basis=basis)


ANALYSIS: Final = Analysis(
    name="power_limits",
    version=2,
    describes="Whether the power of each run keeps the limits that a site sets",
    inputs=(PowerSwings, PowerBands, PowerShapes, RunCards),
    needs=(PowerSwings, PowerBands, PowerShapes),
    outputs=(PowerLimits,),
    compute=check_limits,
    thresholds={f"power_limit_{name}": value for name, value in DEFAULTS.items()},
)
