"""Why a slow GPU is slow: power, clocks, failures, input; and what traces tell."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis.gpus import Gpus
from analysis.stragglers import StragglerRanks
from ingest.tables import Failures, PowerSamples, StepTimings, Table
from tests.analysis.fleets import (
    START_NS,
    STEP_NS,
    found,
    healthy,
    seats,
    step_log,
    table,
)

RANKS, STEPS, SLOW = 16, 60, 5


def slow_row(*frames: tuple[type[Table], pl.DataFrame], **told: Any) -> dict[str, Any]:
    """The only slow thing: rank 5, on GPU-5 of node-0 in bus 5d."""
    work = healthy(RANKS, STEPS, 1)
    work[:, SLOW] *= 1.12
    where = seats(
        RANKS,
        lambda rank: {
            "cluster": "pod",
            "host": f"node-{rank // 8}",
            "local_rank": rank % 8,
            "gpu_uuid": f"GPU-{rank}",
            "pci_address": f"0000:{0x58 + rank % 8:02x}:00",
        },
    )
    log = step_log(work, **told)
    (row,) = found((StepTimings, log), (Gpus, where), *frames)[
        StragglerRanks
    ].to_dicts()
    assert row["rank"] == SLOW
    return dict(row)


def samples(of_slow: dict[str, Any], of_all: dict[str, Any]) -> pl.DataFrame:
    """A sample of each GPU in each second; a list gives a value for each second."""
    rows = [
        {
            "file_id": "p",
            "cluster": "pod",
            "host": f"node-{rank // 8}",
            "gpu_uuid": f"GPU-{rank}",
            "level": "gpu_board",
            "time_ns": START_NS + second * STEP_NS,
            "time_quality": "exact",
        }
        | {
            name: value(second) if callable(value) else value
            for name, value in (of_all | (of_slow if rank == SLOW else {})).items()
        }
        for rank in range(RANKS)
        for second in range(STEPS)
    ]
    return table(PowerSamples, pl.DataFrame(rows))


def test_throttle_counters_are_the_strongest_evidence() -> None:
    # slowed for power 600 ms of every second, and at a lower clock
    row = slow_row(
        (
            PowerSamples,
            samples(
                {
                    "throttle_power_ns": lambda second: second * 600_000_000,
                    "sm_clock_mhz": 1_700.0,
                },
                {"throttle_power_ns": 7, "sm_clock_mhz": 1_980.0},
            ),
        )
    )
    assert row["cause"] == "power_cap"
    assert row["evidence"] == (
        "slowed for power 60.0 % of the time, the job's median 0.0 %;"
        " median SM clock 1700 MHz, the job's 1980 MHz"
    )


@pytest.mark.parametrize(
    ("bits", "cause"),
    [
        (0x4, "power_cap"),
        (0x8, "thermal_slowdown"),
        (0x20, "thermal_slowdown"),
        (0x40, "thermal_slowdown"),
        (0x80, "power_brake"),
        (0x1, "unknown"),  # idle
        (0x2, "unknown"),  # clocks set by the user
    ],
)
def test_throttle_bits_name_their_cause(bits: int, cause: str) -> None:
    power = samples({"throttle_reasons": bits}, {"throttle_reasons": 0})
    assert slow_row((PowerSamples, power))["cause"] == cause


def test_what_all_gpus_share_slows_nobody_in_particular() -> None:
    power = samples({}, {"throttle_reasons": 4, "sm_clock_mhz": 1_800.0})
    row = slow_row((PowerSamples, power))
    assert (row["cause"], row["evidence"]) == ("unknown", None)


def test_a_clock_below_the_jobs_median_by_over_3_percent() -> None:
    at = {"sm_clock_mhz": 1_980.0}
    below = samples({"sm_clock_mhz": 1_920.0}, at)  # 3.03 % below
    near = samples({"sm_clock_mhz": 1_925.0}, at)  # 2.8 % below
    assert slow_row((PowerSamples, below))["cause"] == "low_clock"
    assert slow_row((PowerSamples, near))["cause"] == "unknown"


def test_power_at_a_limit_that_is_lower_than_the_others() -> None:
    row = slow_row(
        (
            PowerSamples,
            samples(
                {"power_average_w": 495.0, "power_limit_w": 500.0},
                {"power_average_w": 640.0, "power_limit_w": 700.0},
            ),
        )
    )
    assert row["cause"] == "power_cap"
    assert row["evidence"] == (
        "at its limit of 500 W in 100.0 % of the samples, the job's median 700 W"
    )


def test_modules_that_hold_the_boards_have_limits_of_their_own() -> None:
    boards = samples(
        {"power_average_w": 495.0, "power_limit_w": 500.0},
        {"power_average_w": 640.0, "power_limit_w": 700.0},
    )
    modules = boards.with_columns(
        level=pl.lit("module"),
        power_average_w=pl.lit(700.0),
        power_limit_w=pl.lit(1_000.0),
    )
    row = slow_row((PowerSamples, pl.concat([boards, modules])))
    assert row["evidence"] == (
        "at its limit of 500 W in 100.0 % of the samples, the job's median 700 W"
    )


@pytest.mark.parametrize(
    "name",
    ["pci:00000000:5D:00.0", "index:5", "index:5 of p f", "pci:0000:5d:00 of p f"],
)
def test_power_that_knows_the_gpu_by_its_place_in_the_host(name: str) -> None:
    power = samples({"throttle_reasons": 0x40}, {"throttle_reasons": 0})
    key = pl.when(pl.col("gpu_uuid") == "GPU-5").then(pl.lit(name))
    renamed = power.with_columns(gpu_uuid=key.otherwise("gpu_uuid"))
    assert slow_row((PowerSamples, renamed))["cause"] == "thermal_slowdown"


def failures(events: Iterable[tuple[str, str | None, str, int]]) -> pl.DataFrame:
    rows = [
        {
            "file_id": "k",
            "cluster": "pod",
            "host": host,
            "gpu_key": gpu,
            "time_ns": START_NS + second * STEP_NS,
            "time_quality": "exact",
            "source": "xid",
            "code": code,
            "inferred": False,
            "line_count": 1,
            "occurrence": 0,
        }
        for host, gpu, code, second in events
    ]
    return table(Failures, pl.DataFrame(rows))


def test_failures_of_the_gpu_and_its_host_during_the_spell() -> None:
    row = slow_row(
        (
            Failures,
            failures(
                [
                    ("node-0", "0000:5d:00", "94", 10),
                    ("node-0", "0000:5d:00", "94", 20),
                    ("node-0", None, "149", 30),
                    ("node-0", "0000:5e:00", "48", 30),  # another GPU
                    ("node-1", "0000:5d:00", "63", 30),  # another host
                    ("node-0", "0000:5d:00", "79", 10_000),  # later
                ]
            ),
        )
    )
    assert (row["cause"], row["evidence"]) == (
        "failure_events",
        "xid 94 (2), xid 149 (1)",
    )


def test_waiting_for_input_that_makes_up_the_excess() -> None:
    data = np.full((STEPS, RANKS), 5_000_000)
    data[:, SLOW] += 110_000_000
    row = slow_row(data_ns=data.ravel())
    assert row["cause"] == "data_loading"
    assert slow_row(data_ns=5_000_000)["cause"] == "unknown"
