"""Energy of runs, by attempt, step and token. Times are seconds."""

from typing import Any, Final

import polars as pl
import pytest

from analysis._analysis import Frames
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.energy_runs import ANALYSIS, EnergyRuns
from analysis.gpus import Gpus
from ingest.tables import PowerSamples, RunCards, StepTimings, Table
from ingest.times import SECOND_NS

Row = dict[str, Any]

S: Final = SECOND_NS
RUN: Final = "r"

#: Attempt 0 takes steps 0 to 3, attempt 1 takes 2 to 5: 2 and 3 of attempt 0 are lost.
#:
#:     second  0    10   20   30   40   50       60   70   80   90   100  110
#:     GPU     |held                   |         |held                   |
#:     step          0    1    2    3                  2    3    4    5
ATTEMPTS: Final = {0: (0, 50, 10, 0), 1: (60, 110, 70, 2)}

GPUS: Final = 2


def rows_of(table: type[Table], rows: list[Row]) -> pl.LazyFrame:
    schema = table.create_empty().schema
    columns = {name: [row.get(name) for row in rows] for name in schema}
    return pl.DataFrame(columns, schema=schema, strict=False).lazy()


def held() -> list[Row]:
    return [
        {
            "run_id": RUN,
            "attempt": attempt,
            "cluster": "pod",
            "rank": gpu,
            "slot": gpu,
            "host": "a",
            "gpu_uuid": f"GPU-{gpu}",
            "from_ns": start * S,
            "to_ns": end * S,
            "role": "rank",
            "start_ns": start * S,
            "first_step": first,
        }
        for attempt, (start, end, _, first) in ATTEMPTS.items()
        for gpu in range(GPUS)
    ]


def steps(tokens: int | None = 500) -> list[Row]:
    return [
        {
            "run_id": RUN,
            "attempt": attempt,
            "step": first + n,
            "rank": rank,
            "scope": "rank",
            "start_ns": (begin + 10 * n) * S,
            "duration_ns": 10 * S,
            "tokens": tokens,
        }
        for attempt, (_, _, begin, first) in ATTEMPTS.items()
        for n in range(4)
        for rank in range(GPUS)
    ]


def power(gpus: int = GPUS, until: int = 110, **other: Any) -> list[Row]:
    """100 W of each GPU at every second; an attempt makes no difference."""
    row = {"cluster": "pod", "host": "a", "level": "gpu_board", "time_quality": "exact"}
    told = {"power_average_w": 100.0} | other
    return [
        row | {"gpu_uuid": f"GPU-{gpu}", "time_ns": at * S} | told
        for gpu in range(gpus)
        for at in range(until + 1)
    ]


def measure(
    samples: list[Row], timings: list[Row], **card: Any
) -> dict[tuple[int | None, str], Row]:
    frames = {
        PowerSamples: rows_of(PowerSamples, samples),
        Allocations: rows_of(Allocations, held()),
        Gpus: rows_of(Gpus, held()),
        Attempts: rows_of(Attempts, [row for row in held() if row["rank"] == 0]),
        StepTimings: rows_of(StepTimings, timings),
        RunCards: rows_of(RunCards, [{"run_id": RUN} | card]),
    }
    found = EnergyRuns.validate(
        ANALYSIS.compute(Frames(frames), ANALYSIS.thresholds)[EnergyRuns]
    )
    return {(row["attempt"], row["level"]): row for row in found.to_dicts()}


def test_a_run_is_the_sum_of_its_attempts_and_of_its_kept_steps() -> None:
    found = measure(power(), steps())
    run, first = found[None, "gpu_board"], found[0, "gpu_board"]
    # 2 GPUs x 100 W x (50 + 50) s; kept: steps 0, 1 and 2 to 5, 60 s
    assert run["energy_j"] == pytest.approx(20_000)
    assert first["energy_j"] == pytest.approx(10_000)
    assert run["productive_j"] == pytest.approx(12_000)
    assert first["productive_j"] == pytest.approx(4_000)
    assert (run["steps"], first["steps"]) == (6, 2)
    assert run["coverage_ratio"] == run["productive_coverage_ratio"] == 1
    assert run["j_per_step"] == pytest.approx(2_000)
    assert (run["tokens"], run["tokens_basis"]) == (6 * 2 * 500, "step_log")
    assert run["j_per_token"] == pytest.approx(2)
    assert (run["mean_w"], run["peak_w"]) == (pytest.approx(100), 100)
    assert run["quality"] is None


def test_tokens_of_the_run_card_go_before_those_of_the_log() -> None:
    run = measure(power(), steps(None), tokens_per_step=4_000)[None, "gpu_board"]
    assert (run["tokens"], run["tokens_basis"]) == (24_000, "run_card")
    assert run["j_per_token"] == pytest.approx(0.5)


def test_steps_have_no_energy_where_half_the_gpus_are_not_measured() -> None:
    run = measure(power(gpus=1), steps())[None, "gpu_board"]
    assert run["energy_j"] == pytest.approx(10_000)
    assert run["coverage_ratio"] == pytest.approx(0.5)
    assert (run["devices_count"], run["expected_count"]) == (1, 2)
    assert (run["j_per_step"], run["j_per_token"]) == (None, None)
    assert run["quality"] == "partial_gpus"


def test_levels_are_never_added_up() -> None:
    # the supply of the node draws 900 W, its GPUs 200 W
    supply = [
        row | {"gpu_uuid": "node"}
        for row in power(1, level="node_ac", power_average_w=900.0)
    ]
    found = measure(power() + supply, steps())
    assert found[None, "gpu_board"]["energy_j"] == pytest.approx(20_000)
    node = found[None, "node_ac"]
    assert node["energy_j"] == pytest.approx(90_000)
    assert (node["devices_count"], node["expected_count"]) == (1, 1)
    assert node["j_per_step"] == pytest.approx(9_000)


def test_a_node_may_draw_more_than_any_board() -> None:
    supply = [
        row | {"gpu_uuid": "node"}
        for row in power(1, level="node_ac", power_average_w=10_200.0)
    ]
    node = measure(supply, [])[None, "node_ac"]
    assert node["energy_j"] == pytest.approx(1_020_000)
    assert (node["steps"], node["j_per_step"]) == (None, None)


def test_boards_and_modules_of_one_run_are_told_apart() -> None:
    module = power(2, level="module", power_average_w=150.0)[111:]
    found = measure(power(1) + module, steps())
    assert found[None, "gpu_board"]["energy_j"] == pytest.approx(10_000)
    assert found[None, "module"]["energy_j"] == pytest.approx(15_000)
    assert {row["quality"] for row in found.values()} == {
        "partial_gpus,level_mixed",
        "module_level,partial_gpus,level_mixed",
    }


def test_doubts_of_gpus_are_those_of_the_run_each_once() -> None:
    scraped = [row for row in power() if row["time_ns"] % (10 * S) == 0]
    run = measure(scraped, steps())[None, "gpu_board"]
    assert run["quality"] == "slow_scrape"


def test_order_does_not_matter() -> None:
    one = measure(power(), steps())
    assert one == measure(power()[::-1], steps()[::-1])


def test_lots_of_devices_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    together = measure(power(), steps())
    monkeypatch.setattr("analysis._energy_chunks.CHUNK_SAMPLES", 50)
    assert measure(power(), steps()) == together
