"""Bands of frequency: what is in one does not hang on sensors or on other bands."""

from typing import Any, Final

import numpy as np
import pytest

from analysis.power_limits import PowerLimits
from analysis.power_shapes import PowerBands, PowerShapes
from tests.analysis.test_power_swings import S, card, frames_of, measure, sampled

Row = dict[str, Any]

#: Length of a series. [s]
LENGTH: Final = 160.0


def swinging(at: np.ndarray, *hz: float, of_means: bool = False) -> np.ndarray:
    """400 W and a swing of 100 W at each frequency, or what a second's mean shows."""
    gains = [np.sinc(one) if of_means else 1.0 for one in hz]
    swings = [
        100 * gain * np.sin(2 * np.pi * one * at + n)
        for n, (one, gain) in enumerate(zip(hz, gains, strict=True))
    ]
    return np.asarray(400.0 + np.sum(swings, axis=0))


def bands_of(power: list[Row], gpus: int = 1, **limits: float) -> dict[Any, Any]:
    found = measure(frames_of(power, LENGTH, gpus, cards=card(**limits)))
    shares = {
        (row["band_low_hz"], row["band_high_hz"]): row for row in found[PowerBands]
    }
    verdict = next(
        row["verdict"]
        for row in found[PowerLimits]
        if row["limit_name"] == "band_energy"
    )
    (shape,) = found[PowerShapes]
    return shares | {"verdict": verdict, "peak_hz": shape["peak_hz"]}


@pytest.mark.parametrize(
    ("low", "high"), [(3.0, 5.0), (0.1, 2.0), (0.3, 1.0), (3.9, 4.1), (0.05, 3.0)]
)
def test_two_swings_of_one_size_have_half_each(low: float, high: float) -> None:
    # 0.5 Hz and 4 Hz, read ten times a second: each band holds one of them
    power = sampled("power_instant_w", swinging(np.arange(0, LENGTH, 0.1), 0.5, 4), 0.1)
    found = bands_of(power, band_low_hz=low, band_high_hz=high, band_energy_ratio=0.55)
    assert found[low, high]["band_energy_ratio"] == pytest.approx(0.5, abs=0.005)
    assert found[0.2, 3.0]["band_energy_ratio"] == pytest.approx(0.5, abs=0.005)
    assert found[3.0, 20.0]["band_energy_ratio"] == pytest.approx(0.5, abs=0.005)
    assert found["verdict"] == "pass"
    assert min(abs(found["peak_hz"] - 0.5), abs(found["peak_hz"] - 4)) < 0.03


@pytest.mark.thorough
@pytest.mark.parametrize("every_s", [0.1, 0.13, 0.24, 0.45, 0.9])
@pytest.mark.parametrize("column", ["power_instant_w", "power_average_w"])
def test_no_rate_of_readings_changes_the_share(every_s: float, column: str) -> None:
    # swings of one size at 0.3 and at 0.85 of the highest that readings show
    highest = 0.5 / every_s
    if column == "power_average_w":
        highest = min(highest, 0.8)
    slow, fast = 0.3 * highest, 0.85 * highest
    at = np.arange(0, LENGTH, every_s)
    watts = swinging(at, slow, fast, of_means=column == "power_average_w")
    middle = 0.6 * highest
    found = bands_of(
        sampled(column, watts, every_s, jitter=0.01),
        band_low_hz=0.05,
        band_high_hz=middle,
    )
    assert found[0.05, middle]["band_energy_ratio"] == pytest.approx(0.5, abs=0.02)


def test_gpus_that_are_read_at_other_moments_show_the_same_share() -> None:
    power = []
    for gpu in range(5):
        at = np.arange(0, LENGTH, 0.1) + gpu * 0.02
        rows = sampled("power_instant_w", swinging(at, 0.5, 4), 0.1)
        power += [
            row | {"gpu_uuid": f"GPU-{gpu}", "time_ns": row["time_ns"] + gpu * S // 50}
            for row in rows
        ]
    found = bands_of(power, gpus=5)
    assert found[0.2, 3.0]["band_energy_ratio"] == pytest.approx(0.5, abs=0.01)
    assert found[3.0, 20.0]["band_energy_ratio"] == pytest.approx(0.5, abs=0.01)


def test_a_sensor_that_is_read_more_often_than_it_changes_shows_the_same_share() -> (
    None
):
    # it changes every 0.2 s and is read every 0.05 s: swings of 0.4 and of 2 Hz
    at = np.repeat(np.arange(0, LENGTH, 0.2), 4)
    power = sampled("power_instant_w", swinging(at, 0.4, 2), 0.05, jitter=0)
    found = bands_of(power, band_low_hz=0.1, band_high_hz=1.0)
    assert found[0.1, 1.0]["band_energy_ratio"] == pytest.approx(0.5, abs=0.01)


def test_bands_that_touch_share_nothing() -> None:
    # a swing right on an edge is half in each
    power = sampled("power_instant_w", swinging(np.arange(0, LENGTH, 0.1), 3), 0.1)
    found = bands_of(power)
    shares = [found[band]["band_energy_ratio"] for band in ((0.2, 3.0), (3.0, 20.0))]
    assert shares == [pytest.approx(0.5, abs=0.01)] * 2
