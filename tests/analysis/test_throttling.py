"""Time that GPUs were slowed. Times are seconds; counters are seconds, too."""

from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from analysis._analysis import Frames
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.stragglers import StragglerRanks
from analysis.throttling import ANALYSIS, Throttling
from ingest.tables import PowerSamples, Table
from ingest.times import SECOND_NS

Row = dict[str, Any]

RUN = "r"


def rows_of(table: type[Table], rows: list[Row]) -> pl.LazyFrame:
    schema = table.create_empty().schema
    columns = {name: [row.get(name) for row in rows] for name in schema}
    return pl.DataFrame(columns, schema=schema, strict=False).lazy()


def sample(at: float, gpu: int = 0, **other: Any) -> Row:
    return {
        "cluster": "pod",
        "host": "a",
        "gpu_uuid": f"GPU-{gpu}",
        "level": "gpu_board",
        "time_quality": "exact",
        "time_ns": round(at * SECOND_NS),
        **other,
    }


def measure(samples: list[Row], until: int, slow: list[Row] | None = None) -> list[Row]:
    held = [
        {
            "run_id": RUN,
            "attempt": 0,
            "cluster": "pod",
            "rank": gpu,
            "slot": gpu,
            "host": "a",
            "gpu_uuid": f"GPU-{gpu}",
            "from_ns": 0,
            "to_ns": until * SECOND_NS,
            "role": "rank",
        }
        for gpu in range(5)
    ]
    attempt = {"run_id": RUN, "attempt": 0, "start_ns": 0}
    frames = {
        PowerSamples: rows_of(PowerSamples, samples),
        Allocations: rows_of(Allocations, held),
        Gpus: rows_of(Gpus, held),
        Attempts: rows_of(Attempts, [attempt]),
        StragglerRanks: rows_of(StragglerRanks, slow or []),
    }
    found = ANALYSIS.compute(Frames(frames), ANALYSIS.thresholds)[Throttling]
    return Throttling.validate(found).to_dicts()


def counter(at: int, seconds: float, gpu: int = 0) -> Row:
    return sample(at, gpu, throttle_power_ns=round(seconds * SECOND_NS))


def test_a_counter_tells_the_time_slowed_and_a_reset_starts_anew() -> None:
    # second   0   10   20  reset  30   40
    # counter  5    9   12          3    4      4 + 3 + 3 + 1 = 11 s of 40
    reads = {0: 5, 10: 9, 20: 12, 30: 3, 40: 4}
    (row,) = measure([counter(at, s) for at, s in reads.items()], 40)
    assert (row["cause"], row["basis"]) == ("power_cap", "counter")
    assert row["throttled_ns"] == 11 * SECOND_NS
    assert row["throttled_ratio"] == pytest.approx(11 / 40)


def test_a_counter_cannot_rise_faster_than_time() -> None:
    (row,) = measure([counter(0, 0), counter(10, 4_000), counter(20, 4_001)], 20)
    assert row["throttled_ns"] == 11 * SECOND_NS


def test_bits_hold_until_the_next_sample_and_not_across_gaps() -> None:
    # brake at 2 s and 3 s, then nothing until 30 s: 1 s, and 5 s of the silence
    bits = {0: 0, 1: 0, 2: 0x88, 3: 0x88, 30: 0, 31: 0}
    found = measure([sample(at, throttle_reasons=b) for at, b in bits.items()], 31)
    times = {row["cause"]: row["throttled_ns"] / SECOND_NS for row in found}
    assert times["power_brake"] == times["hardware_slowdown"] == 6
    assert times["power_cap"] == times["thermal"] == 0
    assert {row["observed_ns"] for row in found} == {9 * SECOND_NS}


def test_counters_go_before_bits() -> None:
    both = [sample(at, throttle_reasons=4, throttle_power_ns=0) for at in range(3)]
    power = next(row for row in measure(both, 2) if row["cause"] == "power_cap")
    assert (power["basis"], power["throttled_ns"]) == ("counter", 0)


def test_what_it_cost_is_that_of_the_straggler() -> None:
    spell = {
        "run_id": RUN,
        "scope": "gpu",
        "scope_id": "GPU-0",
        "rank": 0,
        "attempt": 0,
        "slowdown_ratio": 1.1,
        "lost_gpu_ns": Decimal(7),
        "cause": "power_cap",
    }
    reads = [counter(0, 0), counter(10, 9), counter(0, 0, 1), counter(10, 0, 1)]
    slow, other = measure(reads, 10, [spell, spell | {"slowdown_ratio": 1.2}])
    assert (slow["is_straggler"], other["is_straggler"]) == (True, False)
    assert (slow["slowdown_ratio"], slow["lost_gpu_ns"]) == (1.2, Decimal(14))
    assert other["lost_gpu_ns"] is None


def test_little_power_and_high_utilization_mark_who_waits() -> None:
    watts = {0: 300.0, 1: 600.0, 2: 600.0, 3: 610.0, 4: 300.0}
    slowed = {4: 4}
    power = [
        sample(
            at,
            gpu,
            power_average_w=w,
            utilization_ratio=1.0,
            throttle_reasons=slowed.get(gpu, 0),
        )
        for at in range(10)
        for gpu, w in watts.items()
    ]
    found = measure(power, 10)
    victims = {row["gpu_uuid"] for row in found if row["is_victim"]}
    # GPU 4 draws as little, because its power is capped: it is no victim
    assert victims == {"GPU-0"}


def test_order_does_not_matter_and_nothing_gives_no_rows() -> None:
    reads = [counter(at, at / 2) for at in range(20)]
    assert measure(reads, 20) == measure(reads[::-1], 20)
    assert measure([], 20) == []
