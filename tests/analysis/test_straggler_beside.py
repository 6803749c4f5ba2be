"""A slow GPU is held against its job over the same time, and under load."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from analysis import Frames, Results
from analysis.gpus import Gpus
from analysis.stragglers import ANALYSIS, StragglerEvidence
from ingest.tables import LinkSamples, PowerSamples, StepTimings, Table
from tests.analysis.fleets import START_NS, STEP_NS, seats, step_log, table
from tests.analysis.slow_rank import RANKS, SLOW, STEPS, cause, rung, slow_work

#: Steps before a restart, and seconds in which nothing runs.
FIRST, GAP = 30, 600

#: Seconds from the first step to the last.
WHOLE = 40 + GAP + 40

Sample = dict[str, Any]
IDLE: Sample = {
    "sm_clock_mhz": 345.0,
    "power_average_w": 70.0,
    "utilization_ratio": 0.0,
    "throttle_reasons": 0x1,
    "power_limit_w": 700.0,
}

BUSY: Sample = IDLE | {
    "sm_clock_mhz": 1_980.0,
    "power_average_w": 650.0,
    "utilization_ratio": 0.95,
    "throttle_reasons": 0,
}

CAPPED: Sample = BUSY | {
    "sm_clock_mhz": 1_785.0,
    "power_average_w": 495.0,
    "power_limit_w": 500.0,
    "throttle_reasons": 0x4,
}


def where(rank: int) -> dict[str, Any]:
    return {
        "cluster": "pod",
        "host": f"node-{rank // 8}",
        "local_rank": rank % 8,
        "gpu_uuid": f"GPU-{rank}",
        "nic": f"mlx5_{rank % 8}",
    }


def search(*frames: tuple[type[Table], pl.DataFrame], **limits: float) -> Results:
    """Rank 5 is slow in both attempts; between them lies the gap."""
    log = step_log(slow_work())
    is_later = pl.col("step") >= FIRST
    restarted = log.with_columns(
        attempt=is_later.cast(pl.Int32),
        start_ns=pl.col("start_ns") + is_later.cast(pl.Int64) * GAP * STEP_NS,
    )
    seated = seats(RANKS, where)
    later = seated.with_columns(attempt=pl.lit(1, pl.Int32))
    told = Frames(
        {
            StepTimings: restarted.lazy(),
            Gpus: pl.concat([seated, later]).lazy(),
            **{of: rows.lazy() for of, rows in frames},
        }
    )
    return ANALYSIS.compute(told, {**ANALYSIS.thresholds, **limits})


def is_gap(second: int) -> bool:
    """Whether nothing runs: steps take 1.2 s."""
    return 37 <= second < 36 + GAP


def power(sample: Callable[[int, int], Sample | None]) -> pl.DataFrame:
    """Samples by rank and second; node-1 is read every third second alone."""
    rows = [
        {
            "file_id": "p",
            "cluster": "pod",
            "host": f"node-{rank // 8}",
            "gpu_uuid": f"GPU-{rank}",
            "level": "gpu_board",
            "time_ns": START_NS + second * STEP_NS,
            "time_quality": "exact",
            **told,
        }
        for rank in range(RANKS)
        for second in range(0, WHOLE, 1 if rank < 8 else 3)
        if (told := sample(rank, second)) is not None
    ]
    return table(PowerSamples, pl.DataFrame(rows))


def at_work(rank: int) -> Sample:
    return CAPPED if rank == SLOW else BUSY


#: What is told of a GPU that is held at its power limit whenever it works.
HELD = "power cap bit set in 100.0 % of the samples under load, the job's median 0.0 %"


def evidence(results: Results) -> dict[int, dict[str, Any]]:
    return {row["rung"]: row for row in results[StragglerEvidence].to_dicts()}


def test_samples_between_attempts_are_of_nobodys_work() -> None:
    # node-0 is read all the time, idle for ten minutes; node-1 only at work
    def sample(rank: int, second: int) -> Sample | None:
        idle = IDLE if rank < 8 else None
        return idle if is_gap(second) else at_work(rank)

    told = evidence(search((PowerSamples, power(sample))))
    said = "median SM clock 1785 MHz, the job's 1980 MHz"
    assert (told[5]["evidence"], told[5]["supports"]) == (said, True)
    assert told[4]["evidence"] == HELD
    said = "at its limit of 500 W in 100.0 % of the samples, the job's median 700 W"
    assert (told[6]["evidence"], told[6]["supports"]) == (said, True)
    # less power than its peers, but it does not wait: it is capped
    said = "495 W at 95.0 % utilization, the job's median 650 W: its clock is held down"
    assert (told[15]["evidence"], told[15]["supports"]) == (said, False)
    # seconds 0 to 36 and 636 to 672, each at both ends of what steps cover
    assert abs(told[5]["rows_count"] - STEPS * 1.2) <= 4


@pytest.mark.parametrize(
    "silent",
    [(), ("utilization_ratio",), ("utilization_ratio", "throttle_reasons")],
)
def test_idle_samples_inside_steps_are_left_out(silent: tuple[str, ...]) -> None:
    # two of three samples of node-0 are idle; utilization, reasons or power tell
    def sample(rank: int, second: int) -> Sample:
        is_idle = rank < 8 and second % 3 > 0
        told = IDLE if is_idle else at_work(rank)
        return {name: value for name, value in told.items() if name not in silent}

    told = evidence(search((PowerSamples, power(sample))))
    said = "median SM clock 1785 MHz, the job's 1980 MHz"
    assert (told[5]["evidence"], told[5]["supports"]) == (said, True)
    if "throttle_reasons" not in silent:
        assert told[4]["evidence"] == HELD


def test_a_gpu_that_is_braked_below_all_load_is_seen_still() -> None:
    # nothing but its power tells of load, and that is a quarter of its limit
    def sample(rank: int, _: int) -> Sample:
        names = ("sm_clock_mhz", "power_average_w", "power_limit_w")
        braked = {"sm_clock_mhz": 500.0, "power_average_w": 175.0}
        told = BUSY | braked if rank == SLOW else BUSY
        return {name: told[name] for name in names}

    told = evidence(search((PowerSamples, power(sample))))
    said = "median SM clock 500 MHz, the job's 1980 MHz"
    assert (told[5]["evidence"], told[5]["supports"]) == (said, True)


def test_attempts_weigh_alike_for_the_job_and_the_spell() -> None:
    # all are slower after the restart; rank 5 is not read before it
    def sample(rank: int, second: int) -> Sample | None:
        is_late = second >= GAP
        clock = {"sm_clock_mhz": 1_500.0 if is_late else 1_980.0}
        return None if rank == SLOW and not is_late else BUSY | clock

    told = evidence(search((PowerSamples, power(sample))))
    said = "median SM clock 1500 MHz, the job's 1500 MHz"
    assert (told[5]["evidence"], told[5]["supports"]) == (said, False)


def test_counters_of_ports_that_rise_between_attempts() -> None:
    rows = [
        {
            "file_id": "l",
            "cluster": "pod",
            "host": f"node-{node}",
            "port": f"mlx5_{port}/1",
            "time_ns": START_NS + second * STEP_NS,
            "errors": min(max(second - 60, 0), 400) if (node, port) == (0, 5) else 0,
        }
        for node in range(2)
        for port in range(8)
        for second in range(WHOLE)
    ]
    results = search((LinkSamples, table(LinkSamples, pl.DataFrame(rows))))
    told = rung(results, "link_errors")
    assert told["evidence"].startswith("errors on port mlx5_5/1: 0, that is 0 an hour")
    assert told["supports"] is False


def test_limits_of_the_ladder_can_be_set() -> None:
    samples = power(lambda rank, _: at_work(rank) | {"throttle_reasons": 0})
    clocked = samples.with_columns(power_average_w=None, power_limit_w=None)
    frame = PowerSamples, table(PowerSamples, clocked)
    assert cause(search(frame)) == "low_clock"
    # 1785 of 1980 MHz are 90.2 %
    assert cause(search(frame, straggler_low_clock_ratio=0.9)) == "unknown"
    assert cause(search(frame, straggler_low_clock_ratio=0.905)) == "low_clock"
