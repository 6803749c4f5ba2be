"""The pod's power: energy of its run, swings, limits and a GPU at its cap."""

from decimal import Decimal

from analysis.energy_checks import EnergyChecks
from analysis.energy_runs import EnergyRuns
from analysis.power_limits import PowerLimits
from analysis.power_profiles import PowerProfiles
from analysis.power_shapes import PowerBands, PowerShapes
from analysis.power_swings import PowerSwings
from analysis.throttling import Throttling
from ingest.tables import Table
from tests.reports.builder import HOSTS, HOUR, SLOW_RANK, START, Row, S

#: Windows with their ramp up and down, and whether the sensor shows it. [s, W/s]
RAMPS = (
    (1, 2_400.0, 2_000.0, False),
    (5, 480.0, 400.0, True),
    (10, 240.0, 200.0, True),
    (60, 40.0, 30.0, True),
)


def burned(run: str, host: str) -> dict[type[Table], list[Row]]:
    """Every table about power but the GPUs' energy and samples."""
    return {
        EnergyRuns: _energy(run),
        EnergyChecks: _checks(),
        **_swings(run),
        PowerLimits: _limits(run),
        Throttling: [_slowed(run, host, rank) for rank in range(8)],
    }


def _energy(run: str) -> list[Row]:
    whole = {
        "run_id": run,
        "level": "gpu_board",
        "from_ns": START,
        "to_ns": START + 12 * HOUR,
        "energy_j": 188.8e6,
        "coverage_ratio": 0.966,
        "devices_count": 8,
        "expected_count": 8,
        "productive_j": 150e6,
        "productive_coverage_ratio": 0.97,
        "steps": 120,
        "tokens": 120_000_000,
        "tokens_basis": "run_card",
        "j_per_step": 1.25e6,
        "j_per_token": 1.25,
        "mean_w": 576.0,
        "peak_w": 702.0,
        "quality": "gap,stale_sensor",
    }
    blank = {"steps": None, "j_per_step": None, "j_per_token": None}
    return [
        whole,
        whole | {"attempt": 0, "energy_j": 94e6},
        whole | blank | {"level": "node_ac", "energy_j": 260e6, "devices_count": 2},
    ]


def _checks() -> list[Row]:
    window = {
        "cluster": "pod-a",
        "host": HOSTS[0],
        "gpu_uuid": "GPU-0000-aaaa-bbbb",
        "level": "gpu_board",
        "window": "step_1",
        "start_ns": START,
        "end_ns": START + 4 * S,
        "duration_ns": 4 * S,
        "told_j": 2_400.0,
        "told_mean_w": 600.0,
        "energy_j": 2_388.0,
        "method": "trapezoid_average",
        "coverage_ratio": 1.0,
        "difference_ratio": 2_400 / 2_388 - 1,
        "verdict": "agrees",
    }
    undated = {"start_ns": None, "end_ns": None, "energy_j": None}
    other = {"difference_ratio": None, "verdict": "not_comparable", "window": "epoch"}
    return [window, window | undated | other | {"quality": "clock_without_date"}]


def _swings(run: str) -> dict[type[Table], list[Row]]:
    band = {"band_low_hz": 0.1, "band_high_hz": 20.0, "band_energy_ratio": 0.54}
    slow = "a new value every 1 s is too rare for 1 s"
    swings = [
        {
            "run_id": run,
            "window_ns": window * S,
            "ramp_up_w_per_s": up,
            "ramp_down_w_per_s": down,
            "rise_w": up * window,
            "fall_w": down * window,
            "dynamic_range_w": up * window,
            "observable": seen,
            "reason": None if seen else slow,
            **band,
        }
        for window, up, down, seen in RAMPS
    ]
    above = "the sensor shows nothing above 0.5 Hz"
    watched = {"is_watched": True, "observable": False, "reason": above}
    shape = {
        "run_id": run,
        "semantics": "instant",
        "interval_ns": S,
        "refresh_ns": S,
        "grid_ns": S // 2,
        "devices_count": 8,
        "expected_count": 8,
        "coverage_ratio": 0.95,
        "mean_w": 4_608.0,
        "low_w": 1_000.0,
        "peak_w": 5_600.0,
        "ceiling_w": 8_400.0,
        "range_w": 4_600.0,
        "typical_range_w": 2_400.0,
        "load_factor_ratio": 0.823,
        "coincidence_ratio": 0.97,
        "peak_hz": 0.1,
        "highest_hz": 0.5,
        "step_period_ns": 10 * S,
        "step_swing_w": 2_400.0,
        "step_duty_ratio": 0.7,
    }
    phases = ("compute", "communication", "none", "checkpoint")
    bins = [
        {
            "run_id": run,
            "from_ns": START + n * 60 * S,
            "width_ns": 60 * S,
            "low_w": None if n == 7 else 3_000.0,
            "mean_w": None if n == 7 else 4_600.0 + 10 * n,
            "high_w": None if n == 7 else 5_400.0,
            "coverage_ratio": 0.0 if n == 7 else 1.0,
            "phase": phases[n // 10],
        }
        for n in range(40)
    ]
    return {
        PowerSwings: swings,
        PowerBands: [{"run_id": run, "seen_high_hz": 0.5, **band, **watched}],
        PowerShapes: [shape],
        PowerProfiles: bins,
    }


def _limits(run: str) -> list[Row]:
    """Limits of 300 W/s up, of which that within 1 s cannot be seen."""
    told = {1: "not_observable", 5: "fail", 10: "pass", 60: "pass"}
    return [
        {
            "run_id": run,
            "limit_name": "ramp_up",
            "window_ns": window * S,
            "measured": up,
            "allowed": 300.0,
            "unit": "W/s",
            "limit_basis": "run_card",
            "verdict": told[window],
            "reason": None if seen else "a new value every 1 s is too rare for 1 s",
        }
        for window, up, _, seen in RAMPS
    ]


def _slowed(run: str, host: str, rank: int) -> Row:
    is_slow = rank == SLOW_RANK
    return {
        "run_id": run,
        "cluster": "pod-a",
        "host": (HOSTS[0], host)[rank // 4],
        "gpu_uuid": f"GPU-{rank:04}-aaaa-bbbb",
        "cause": "power_cap",
        "basis": "counter",
        "throttled_ns": 8 * HOUR if is_slow else 60 * S,
        "observed_ns": 12 * HOUR,
        "throttled_ratio": 2 / 3 if is_slow else 1 / 720,
        "mean_clock_mhz": 1_410.0 if is_slow else 1_980.0,
        "mean_w": 480.0 if is_slow else 590.0,
        "utilization_ratio": 0.98,
        "is_victim": False,
        "is_straggler": is_slow,
        "slowdown_ratio": 1.12 if is_slow else None,
        "lost_gpu_ns": Decimal(5 * HOUR) if is_slow else None,
    }
