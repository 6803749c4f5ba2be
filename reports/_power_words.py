"""Power and its swings in words."""

from typing import Final

import polars as pl

from reports._numbers import THIN, compact, duration, percent, significant
from reports._words import plural

#: Units of power and of ramps, from how many watts on. [W]
UNITS: Final = ((1e6, "MW"), (1e3, "kW"), (1.0, "W"))


def watts(value: float) -> str:
    """Return power in the unit that a person would say."""
    size, unit = next((one for one in UNITS if abs(value) >= one[0]), UNITS[-1])
    return f"{significant(value / size)}{THIN}{unit}"


def ramp(value: float) -> str:
    """Return a ramp in the unit that a person would say."""
    return f"{watts(value)}/s"


def sensor(shape: dict[str, object]) -> str:
    """Return what the sensors of a run can show.

    Args:
        shape: Row of PowerShapes.
    """
    kind = (
        "Readings are of the moment"
        if shape["semantics"] == "instant"
        else f"Readings are means over 1{THIN}s"
    )
    if shape["mean_w"] is None:
        return f"{kind}, and too few to tell what all GPUs drew at any time."
    refresh = duration(int(str(shape["refresh_ns"])))
    highest = significant(float(str(shape["highest_hz"])))
    return (
        f"{kind} and change every {refresh}: nothing above {highest}{THIN}Hz is"
        " observable."
    )


def load(shape: dict[str, object]) -> str:
    """Return load factor, coincidence and coverage, where they are known.

    Args:
        shape: Row of PowerShapes.
    """
    covered = (
        "every sampled GPU was covered for {} of the time, and power together is told"
        " of that time alone: its mean is not that of each GPU, added up"
    )
    told = [
        (shape["load_factor_ratio"], "the mean is {} of the peak (load factor)"),
        (shape["coincidence_ratio"], "the peak is {} of the GPUs' peaks added up"),
        (shape["coverage_ratio"], covered),
    ]
    parts = [
        text.format(percent(value)) for value, text in told if isinstance(value, float)
    ]
    sampled, held = int(str(shape["devices_count"])), int(str(shape["expected_count"]))
    few = (
        f"; {plural(held - sampled, 'GPU')} of {held} not sampled, and not in it"
        if sampled < held
        else ""
    )
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}{few}." if text else ""


def steps(shape: dict[str, object]) -> str:
    """Return the swing and the duty cycle of a step, or why neither is told.

    Args:
        shape: Row of PowerShapes.
    """
    swing, duty = shape["step_swing_w"], shape["step_duty_ratio"]
    if isinstance(swing, float) and isinstance(duty, float):
        period = duration(int(str(shape["step_period_ns"])))
        return (
            f"In a step of {period} power swings by {watts(swing)}, and is in the upper"
            f" half for {percent(duty)} of it (medians)."
        )
    return f"The swing of a step is not observable: {shape['step_reason']}."


def band(bands: pl.DataFrame, shape: dict[str, object]) -> str:
    """Return which share of the swinging is in the band that is watched.

    Args:
        bands: Rows of PowerBands of one run.
        shape: Row of PowerShapes.
    """
    watched = bands.filter("is_watched").to_dicts()
    if not watched:
        return ""
    row = watched[0]
    name = f"{row['band_low_hz']:g} to {row['band_high_hz']:g}{THIN}Hz"
    peak = shape["peak_hz"]
    most = (
        f" Most energy is at {significant(peak)}{THIN}Hz."
        if isinstance(peak, float)
        else ""
    )
    share = row["band_energy_ratio"]
    if row["observable"] and share is not None:
        return f"{percent(share)} of the AC energy is at {name}.{most}"
    seen = f" (of what is seen: {percent(share)})" if share is not None else ""
    return f"The share at {name} is not observable{seen}: {row['reason']}.{most}"


def verdicts(limits: pl.DataFrame) -> str:
    """Return how many limits are broken, kept, or not to be seen.

    Args:
        limits: Rows of PowerLimits.
    """
    set_by = limits.filter(pl.col("verdict") != "no_limit")
    if set_by.is_empty():
        return "no limit is set"
    counts = dict(set_by["verdict"].value_counts().iter_rows())
    parts = [
        text.format(n=counts[verdict], of=set_by.height, **_verbs(counts[verdict]))
        for verdict, text in (
            ("fail", "{n} of {of} checks of limits {fail}"),
            ("not_observable", "{n} of {of} {are} not observable"),
            ("pass", "{n} of {of} {pass_}"),
        )
        if counts.get(verdict)
    ]
    return ", ".join(parts)


def _verbs(count: int) -> dict[str, str]:
    if count == 1:
        return {"fail": "fails", "are": "is", "pass_": "passes"}
    return {"fail": "fail", "are": "are", "pass_": "pass"}


def number(value: object) -> str:
    """Return a number for a cell, or that it is not known."""
    return compact(value) if isinstance(value, float) else "not known"
