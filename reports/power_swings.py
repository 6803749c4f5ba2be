"""How the power of runs swings, which limits it keeps, and what slowed GPUs."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.lost_time import LostTime
from analysis.power_limits import PowerLimits
from analysis.power_profiles import PowerProfiles
from analysis.power_shapes import PowerBands, PowerShapes
from analysis.power_swings import PowerSwings
from analysis.throttling import Throttling
from ingest.tables import Table
from reports import (
    _power_cluster_chart,
    _power_limit_listing,
    _power_ramp_chart,
    _power_words,
    _runs,
    _throttle_shown,
    _throttle_words,
)
from reports._numbers import duration
from reports._section import Content, Scope, Section
from reports._words import name, plural

_HINT: Final = (
    "No power of GPUs was sampled while a run held them: point gpuledger ingest at"
    " nvidia-smi CSV (--query-gpu with power.draw.instant, ten times a second) or at"
    " dcgm-exporter text, beside a step log or scheduler jobs."
)


def build(frames: Frames, scope: Scope) -> Content:
    """Return the swings of the dearest sampled run, and the limits of all."""
    shapes = scope.of_runs(frames[PowerShapes]).sort("run_id").collect()
    slowed = scope.of_runs(frames[Throttling]).collect()
    if shapes.is_empty() and slowed.is_empty():
        return Content(heading="How power swings is not known.", empty=_HINT)
    throttling = _throttle_words.sentence(slowed, scope)
    if shapes.is_empty():
        return Content(
            heading=f"How power swings is not known. {throttling}",
            charts=_throttle_shown.charts(slowed, scope),
            listings=_throttle_shown.listings(slowed, scope),
        )
    shape = _shown(shapes, _runs.order(frames, scope))
    limits = scope.of_runs(frames[PowerLimits]).collect()
    swings = _of_run(frames, PowerSwings, shape)
    bands = _of_run(frames, PowerBands, shape)
    profiles = _of_run(frames, PowerProfiles, shape)
    gpus = int(str(shape["devices_count"]))
    mine = limits.filter(pl.col("run_id") == shape["run_id"])
    return Content(
        heading=_heading(shape, swings, mine, many=shapes.height > 1),
        paragraphs=[
            text
            for text in (
                _power_words.sensor(shape),
                _power_words.load(shape),
                _power_words.steps(shape),
                _power_words.band(bands, shape),
                throttling,
            )
            if text
        ],
        charts=[
            *_power_cluster_chart.profile(profiles, gpus),
            *_power_ramp_chart.ramps(swings, gpus),
            *_throttle_shown.charts(slowed, scope),
        ],
        listings=[
            *_power_limit_listing.listings(limits, scope),
            *_throttle_shown.listings(slowed, scope),
        ],
    )


def _shown(shapes: pl.DataFrame, dearest: list[str]) -> dict[str, object]:
    """Return the run that is drawn: the dearest that was sampled."""
    rows = {row["run_id"]: row for row in shapes.to_dicts()}
    chosen = next((run_id for run_id in dearest if run_id in rows), next(iter(rows)))
    return dict(rows[chosen])


def _of_run(
    frames: Frames, table: type[Table], shape: dict[str, object]
) -> pl.DataFrame:
    return frames[table].filter(pl.col("run_id") == shape["run_id"]).collect()


def _heading(
    shape: dict[str, object], swings: pl.DataFrame, limits: pl.DataFrame, *, many: bool
) -> str:
    gpus = plural(int(str(shape["devices_count"])), "GPU")
    of_run = f" of {name(str(shape['run_id']), 30)}" if many else ""
    mean, moved = shape["mean_w"], shape["typical_range_w"]
    told = f"; {_power_words.verdicts(limits)}"
    if not isinstance(mean, float) or not isinstance(moved, float):
        return f"Power of the {gpus}{of_run} together is never known{told}."
    return (
        f"{gpus}{of_run} together drew {_power_words.watts(mean)} and swung by"
        f" {_power_words.watts(moved)} (1st to 99th percentile)"
        f"{_hidden(swings)}{told}."
    )


def _hidden(swings: pl.DataFrame) -> str:
    """Return which ramps cannot be seen: those over windows that are too short."""
    unseen = swings.filter(~pl.col("observable"))["window_ns"]
    if unseen.is_empty():
        return ""
    if unseen.len() == swings.height:
        return ", ramps not observable"
    return f"; ramps over {duration(int(str(unseen.max())))} or less are not observable"


SECTION: Final = Section(
    "power_swings",
    "Swings of power",
    (
        *(PowerSwings, PowerShapes, PowerBands, PowerProfiles),
        *(PowerLimits, Throttling, LostTime),
    ),
    build,
)
