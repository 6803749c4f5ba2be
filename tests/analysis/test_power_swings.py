"""Swings of drawn power: a square wave of 1 Hz, once instant, once averaged."""

from typing import Any, Final

import numpy as np
import polars as pl
import pytest

from analysis._analysis import Frames
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.power_limits import ANALYSIS as LIMITS
from analysis.power_limits import PowerLimits
from analysis.power_profiles import PowerProfiles, PowerSteps
from analysis.power_shapes import PowerBands, PowerShapes
from analysis.power_swings import ANALYSIS, PowerSwings
from ingest.tables import PowerSamples, RunCards, StepTimings, Table
from ingest.times import SECOND_NS

Row = dict[str, Any]

S: Final = SECOND_NS
START: Final = 1_795_000_000 * S
RUN: Final = "r"


def wave(at_s: np.ndarray, hz: float = 1.0) -> np.ndarray:
    """700 W in the first half of a period, 400 W in the second.

    |----    |----    |----        700 W
    |    ----|    ----|    ----    400 W
    """
    return np.where((at_s * hz) % 1.0 < 0.5, 700.0, 400.0)


def averaged(at_s: np.ndarray, hz: float = 1.0) -> np.ndarray:
    """The same, as the mean over the second before: 550 W at 1 Hz, always."""
    steps = np.linspace(0.0, 1.0, 200, endpoint=False) + 0.0025
    return np.asarray(wave(at_s[:, None] - steps[None, :], hz).mean(axis=1))


def sampled(
    column: str, watts: np.ndarray, every_s: float, gpus: int = 1, jitter: float = 0.05
) -> list[Row]:
    """Samples of GPUs; a hundredth of a watt changes at each refresh, as it does."""
    return [
        {
            "cluster": "pod",
            "host": "a",
            "gpu_uuid": f"GPU-{gpu}",
            "level": "gpu_board",
            "time_quality": "exact",
            "time_ns": START + round(n * every_s * S),
            column: float(power) + jitter * (n % 2),
        }
        for gpu in range(gpus)
        for n, power in enumerate(watts)
    ]


def rows_of(table: type[Table], rows: list[Row]) -> pl.LazyFrame:
    schema = table.create_empty().schema
    columns = {name: [row.get(name) for row in rows] for name in schema}
    return pl.DataFrame(columns, schema=schema, strict=False).lazy()


def frames_of(
    power: list[Row], length_s: float, gpus: int = 1, **other: list[Row]
) -> dict[type[Table], pl.LazyFrame]:
    held = [
        {
            "run_id": RUN,
            "attempt": 0,
            "cluster": "pod",
            "rank": gpu,
            "slot": gpu,
            "host": "a",
            "gpu_uuid": f"GPU-{gpu}",
            "from_ns": START,
            "to_ns": START + round(length_s * S),
            "role": "rank",
        }
        for gpu in range(gpus)
    ]
    attempt = held[0] | {"start_ns": START, "end_ns": held[0]["to_ns"], "first_step": 0}
    return {
        PowerSamples: rows_of(PowerSamples, power),
        Allocations: rows_of(Allocations, held),
        Gpus: rows_of(Gpus, held),
        Attempts: rows_of(Attempts, [attempt]),
        StepTimings: rows_of(StepTimings, other.get("steps", [])),
        RunCards: rows_of(RunCards, other.get("cards", [])),
    }


def measure(frames: dict[type[Table], pl.LazyFrame]) -> dict[type[Table], list[Row]]:
    found = ANALYSIS.compute(Frames(frames), ANALYSIS.thresholds)
    given = frames | {table: rows.lazy() for table, rows in found.items()}
    limits = LIMITS.compute(Frames(given), LIMITS.thresholds)
    every = {**found, **limits}
    return {table: table.validate(rows).to_dicts() for table, rows in every.items()}


def card(**limits: float) -> list[Row]:
    return [
        {"run_id": RUN} | {f"power_{name}": value for name, value in limits.items()}
    ]


def verdicts(found: dict[type[Table], list[Row]], name: str) -> dict[float | None, str]:
    return {
        row["window_ns"] and row["window_ns"] / S: row["verdict"]
        for row in found[PowerLimits]
        if row["limit_name"] == name
    }


def test_a_ramp_that_an_average_hides_is_not_observable_and_not_passed() -> None:
    at = np.arange(0, 120, 0.1)
    power = sampled("power_average_w", averaged(at), 0.1)
    limits = card(ramp_up_w_per_s=100, ramp_down_w_per_s=100, dynamic_range_w=50)
    found = measure(frames_of(power, 120, cards=limits))
    second = next(r for r in found[PowerSwings] if r["window_ns"] == S)
    assert second["rise_w"] < 1  # 550 W all the time: nothing of 300 W is left
    assert not second["observable"]
    assert "1 s average" in second["reason"]
    ramps = verdicts(found, "ramp_up")
    assert (ramps[0.1], ramps[1]) == ("not_observable", "not_observable")
    assert ramps[60] == "pass"
    assert verdicts(found, "dynamic_range") == {60: "not_observable"}
    assert verdicts(found, "band_energy") == {None: "not_observable"}
    assert "pass" not in {ramps[0.1], ramps[1]}


def test_a_mean_passes_only_what_no_swing_within_it_could_break() -> None:
    # 550 W always; a GPU of 400 W draws 600 W at most, that is 120 W/s over 5 s
    power = sampled("power_average_w", averaged(np.arange(0, 120, 0.1)), 0.1)
    told = [row | {"power_limit_w": 400.0} for row in power]
    found = measure(frames_of(told, 120, cards=card(ramp_up_w_per_s=100)))
    ramps = verdicts(found, "ramp_up")
    assert [ramps[w] for w in (5, 10, 60)] == ["not_observable", "pass", "pass"]
    told_why = {
        r["limit_name"]: r for r in found[PowerLimits] if r["window_ns"] == 5 * S
    }
    assert told_why["ramp_up"]["reason"] == (
        "the sensor's 1 s average hides swings within a second, which may be up to 120"
        " W/s over this window"
    )
    # of a GPU whose limit is not told much more is believed
    found = measure(frames_of(power, 120, cards=card(ramp_up_w_per_s=100)))
    assert verdicts(found, "ramp_up")[10] == "not_observable"


@pytest.mark.parametrize("gpus", [1, 2])
def test_one_sample_of_each_gpu_shows_nothing_and_passes_nothing(gpus: int) -> None:
    power = sampled("power_instant_w", np.full(1, 600.25), 1, gpus)
    limits = card(ramp_up_w_per_s=1, ramp_down_w_per_s=1, dynamic_range_w=1)
    found = measure(frames_of(power, 5, gpus, cards=limits))
    assert {row["verdict"] for row in found[PowerLimits]} == {"not_observable"}
    (shape,) = found[PowerShapes]
    assert (shape["mean_w"], shape["interval_ns"]) == (None, 5 * S)


def test_the_same_ramp_is_seen_by_an_instant_sensor_and_fails() -> None:
    at = np.arange(0, 120, 0.1)
    power = sampled("power_instant_w", wave(at), 0.1)
    limits = card(ramp_up_w_per_s=100, ramp_down_w_per_s=400, dynamic_range_w=310)
    found = measure(frames_of(power, 120, cards=limits))
    second = next(r for r in found[PowerSwings] if r["window_ns"] == S)
    # a period of 1 s: no difference over a second, 300 W within each
    assert second["ramp_up_w_per_s"] == pytest.approx(0, abs=0.2)
    assert second["rise_w"] == pytest.approx(300, abs=0.2)
    assert second["observable"]
    assert verdicts(found, "ramp_up")[1] == "fail"
    assert verdicts(found, "ramp_down")[1] == "pass"
    assert verdicts(found, "dynamic_range") == {60: "pass"}


def test_a_ramp_over_several_seconds_is_measured_by_an_average_too() -> None:
    # 400 W until 60 s, then up by 60 W/s to 700 W within 5 s
    at = np.arange(0, 120, 0.1)
    power = sampled("power_average_w", np.interp(at, [60, 65], [400, 700]), 0.1)
    found = measure(frames_of(power, 120, cards=card(ramp_up_w_per_s=50)))
    five = next(r for r in found[PowerSwings] if r["window_ns"] == 5 * S)
    assert five["ramp_up_w_per_s"] == pytest.approx(60, rel=0.01)
    assert five["ramp_down_w_per_s"] == pytest.approx(0, abs=0.1)
    assert verdicts(found, "ramp_up")[5] == "fail"
    # within 1 s it rose by 60 W, at least over 2.1 s: 28.6 W/s, which is no breach
    assert verdicts(found, "ramp_up")[1] == "not_observable"


def test_a_breach_that_is_seen_although_much_is_hidden_fails() -> None:
    at = np.arange(0, 120, 0.1)
    power = sampled("power_average_w", np.interp(at, [60, 61], [100, 700]), 0.1)
    found = measure(frames_of(power, 120, cards=card(ramp_up_w_per_s=50)))
    assert verdicts(found, "ramp_up")[1] == "fail"
    told = [r for r in found[PowerLimits] if r["limit_name"] == "ramp_up"]
    reason = next(r["reason"] for r in told if r["window_ns"] == S)
    assert reason.endswith("what it shows is beyond the limit even so")


def test_what_is_beyond_a_limit_and_no_breach_says_why() -> None:
    # up by 600 W from one second to the next, and then some swinging
    at = np.arange(0.0, 120)
    watts = np.where(at < 60, 100.0, 700.0 + 5 * np.sin(at))
    power = sampled("power_instant_w", watts, 1)
    limits = card(ramp_up_w_per_s=400, band_energy_ratio=0.001)
    found = {
        (row["limit_name"], row["window_ns"]): row
        for row in measure(frames_of(power, 120, cards=limits))[PowerLimits]
    }
    second, band = found["ramp_up", S], found["band_energy", None]
    assert second["verdict"] == band["verdict"] == "not_observable"
    assert second["measured"] > 400
    assert second["reason"] == (
        "a new value every 1 s is too rare for 1 s; with all the time that it may have"
        " taken, 299 W/s is certain"
    )
    assert band["reason"] == (
        "the sensor shows nothing above 0.5 Hz; with what is hidden, the share may be"
        " smaller"
    )


def test_a_scrape_of_thirty_seconds_shows_no_ramp_of_one() -> None:
    power = sampled("power_average_w", wave(np.arange(40.0) / 7), 30)
    found = measure(frames_of(power, 1_200, cards=card(ramp_up_w_per_s=1)))
    by_window = {row["window_ns"] / S: row for row in found[PowerSwings]}
    assert by_window[10]["ramp_up_w_per_s"] is None
    assert [w for w, row in by_window.items() if row["observable"]] == [60]
    assert verdicts(found, "ramp_up")[10] == "not_observable"


def test_without_a_limit_there_is_no_verdict() -> None:
    power = sampled("power_instant_w", wave(np.arange(0, 60, 0.1)), 0.1)
    found = measure(frames_of(power, 60))
    assert set(verdicts(found, "ramp_up").values()) == {"no_limit"}
    bases = {row["limit_name"]: row["limit_basis"] for row in found[PowerLimits]}
    assert bases["band_energy"] == "example"


def test_the_spectrum_finds_the_frequency_and_the_share_of_a_sine() -> None:
    # 50 W at 1.6 Hz and 25 W at 0.15 Hz: energies as 4 to 1
    at = np.arange(0, 240, 0.1)
    sines = 50 * np.sin(2 * np.pi * 1.6 * at) + 25 * np.sin(2 * np.pi * 0.15 * at)
    power = sampled("power_instant_w", 500 + sines, 0.1, jitter=0.01)
    found = measure(frames_of(power, 240))
    (shape,) = found[PowerShapes]
    assert shape["peak_hz"] == pytest.approx(1.6, abs=0.025)
    assert shape["highest_hz"] == pytest.approx(5)
    shares = {
        (row["band_low_hz"], row["band_high_hz"]): row for row in found[PowerBands]
    }
    assert shares[0.2, 3.0]["band_energy_ratio"] == pytest.approx(0.8, abs=0.02)
    assert shares[0.1, 0.2]["band_energy_ratio"] == pytest.approx(0.2, abs=0.02)
    assert shares[0.2, 3.0]["observable"]
    assert not shares[3.0, 20.0]["observable"]
    assert shares[0.1, 20.0]["reason"] == "the sensor shows nothing above 5 Hz"


def test_what_an_average_took_from_a_sine_is_given_back() -> None:
    # the gain of a second's mean at 0.5 Hz is 2 / pi
    at = np.arange(0, 240, 0.1)
    slow, fast = 2 * np.pi * 0.15 * at, 2 * np.pi * 0.5 * at
    gain = np.sinc(np.array([0.15, 0.5]))
    mean = 500 + 50 * gain[0] * np.sin(slow) + 50 * gain[1] * np.sin(fast)
    found = measure(frames_of(sampled("power_average_w", mean, 0.1), 240))
    (shape,) = found[PowerShapes]
    assert shape["highest_hz"] == pytest.approx(0.8)
    shares = [
        row["band_energy_ratio"] for row in found[PowerBands] if row["band_high_hz"] < 1
    ]
    assert shares == [pytest.approx(0.5, abs=0.02)]


def test_power_is_not_known_while_a_gpu_that_is_sampled_is_not_covered() -> None:
    # GPU 1 is silent from 20 s to 40 s
    watts = np.full(60, 100.0)
    power = sampled("power_instant_w", watts, 1, gpus=2, jitter=0.01)
    kept = [
        row
        for row in power
        if row["gpu_uuid"] == "GPU-0" or not 20 < (row["time_ns"] - START) / S < 40
    ]
    found = measure(frames_of(kept, 60, gpus=2))
    (shape,) = found[PowerShapes]
    assert shape["mean_w"] == pytest.approx(200, abs=0.1)
    # from its last reading at 20 s to 40 s nothing is known of it, and after 59 s
    assert shape["coverage_ratio"] == pytest.approx(39.5 / 60, abs=0.01)
    assert shape["devices_count"] == 2
    known = [row["coverage_ratio"] for row in found[PowerProfiles]]
    assert min(known) == 0


def test_a_reading_from_before_the_run_is_in_force_when_it_starts() -> None:
    # read every 10 s, from 5 s before the run on until 5 s after it
    frames = frames_of(sampled("power_instant_w", np.full(13, 100.0), 10), 120)
    earlier = PowerSamples.time_ns.col - 5 * S
    frames[PowerSamples] = frames[PowerSamples].with_columns(time_ns=earlier)
    (shape,) = measure(frames | {})[PowerShapes]
    # the last reading is at 115 s
    assert shape["coverage_ratio"] == pytest.approx(115 / 120, abs=0.02)


def test_peaks_of_gpus_that_take_turns_do_not_coincide() -> None:
    at = np.arange(0, 120, 0.1)
    power = sampled("power_instant_w", wave(at, 0.1), 0.1)
    turned = sampled("power_instant_w", wave(at + 5, 0.1), 0.1)
    both = power + [row | {"gpu_uuid": "GPU-1"} for row in turned]
    (shape,) = measure(frames_of(both, 120, gpus=2))[PowerShapes]
    assert shape["peak_w"] == pytest.approx(1_100, abs=0.3)
    assert shape["coincidence_ratio"] == pytest.approx(1_100 / 1_400, abs=1e-3)
    assert shape["load_factor_ratio"] == pytest.approx(1, abs=1e-3)


def test_a_step_has_a_swing_and_a_duty_cycle() -> None:
    # steps of 10 s, each 7 s at 700 W and 3 s at 400 W
    at = np.arange(0, 100, 0.1)
    watts = np.where(at % 10 < 7, 700.0, 400.0)
    step = {"run_id": RUN, "attempt": 0, "clock": "host", "scope": "rank", "rank": 0}
    steps = [
        step
        | {
            "step": n,
            "start_ns": START + 10 * n * S,
            "duration_ns": 10 * S,
            "step_count": 1,
            "compute_ns": 7 * S,
            "communication_ns": 3 * S,
        }
        for n in range(10)
    ]
    power = sampled("power_instant_w", watts, 0.1)
    found = measure(frames_of(power, 100, steps=steps))
    (shape,) = found[PowerShapes]
    assert shape["step_period_ns"] == 10 * S
    assert shape["step_swing_w"] == pytest.approx(300, abs=0.2)
    assert shape["step_duty_ratio"] == pytest.approx(0.7, abs=0.01)
    assert {row["compute_ratio"] for row in found[PowerSteps]} == {0.7}
    assert {row["phase"] for row in found[PowerProfiles]} == {"compute"}


def test_order_of_rows_does_not_matter() -> None:
    power = sampled("power_instant_w", wave(np.arange(0, 30, 0.1)), 0.1, gpus=3)
    assert measure(frames_of(power, 30, gpus=3)) == measure(
        frames_of(power[::-1], 30, gpus=3)
    )


def test_a_sensor_that_never_moves_passes_nothing() -> None:
    power = sampled("power_instant_w", np.full(1_200, 46.19), 0.1, jitter=0)
    limits = card(ramp_up_w_per_s=100, ramp_down_w_per_s=100, dynamic_range_w=50)
    found = measure(frames_of(power, 120, cards=limits))
    assert {row["verdict"] for row in found[PowerLimits]} == {"not_observable"}


def test_lots_of_devices_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    power = sampled("power_instant_w", wave(np.arange(0, 30, 0.1)), 0.1, gpus=5)
    together = measure(frames_of(power, 30, gpus=5))
    monkeypatch.setattr("analysis._energy_chunks.CHUNK_SAMPLES", 300)
    assert measure(frames_of(power, 30, gpus=5)) == together


def test_runs_without_power_have_no_rows() -> None:
    found = measure(frames_of([], 30))
    assert not any(found.values())
