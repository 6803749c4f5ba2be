"""Work finds the call that launched it, and the step of that call."""

from collections.abc import Callable
from typing import Any

import pytest

ReadTrace = Callable[..., Any]


def test_step_is_that_of_the_launch(read_trace: ReadTrace, write: Any) -> None:
    # GIVEN us    0         10        20        30        40
    #   host      |--- step 1 ---|--- step 2 ---|
    #   launches     1   2          3               4
    #   device                 11111       2222  333      44  55
    events = [
        write.kernel(12, 5, correlation=1),
        write.kernel(24, 4, correlation=2),
        write.kernel(30, 3, correlation=3),
        write.kernel(36, 2, correlation=4),
        write.kernel(40, 2, correlation=99),
        write.launch(2, 1),
        write.launch(6, 2),
        write.launch(17, 3),
        write.launch(33, 4),
        write.step(2, 15, 15),
        write.step(1, 0, 15),
    ]
    rows = read_trace(events, name="rank3.json")
    # THEN work belongs to the step that launched it, whenever it ran
    assert rows.kernels["step"].to_list() == [1, 1, 2, None, None]
    assert rows.kernels["linked"].to_list() == [True, True, True, True, False]
    # AND the steps are known as the host timed them
    assert rows.steps.select("step", "rank", "start_ns", "duration_ns").rows() == [
        (1, 3, 0, 15_000),
        (2, 3, 15_000, 15_000),
    ]
    assert set(rows.steps["clock"]) == {"host"}
    assert set(rows.steps["scope"]) == {"rank"}


def test_any_call_launches_and_one_may_launch_many(
    read_trace: ReadTrace, write: Any
) -> None:
    graph = write.launch(1, 5) | {"cat": "cuda_driver", "name": "cuGraphLaunch"}
    rows = read_trace(
        [graph, write.kernel(5, 1, correlation=5), write.kernel(7, 1, correlation=5)]
    )
    assert rows.kernels["linked"].to_list() == [True, True]


def test_repeated_ids_find_the_last_call_before_the_work(
    read_trace: ReadTrace, write: Any
) -> None:
    # GIVEN two traces glued together, each with correlations 1 and 2
    events = [
        *(
            write.step(1, 0, 100),
            write.launch(10, 1),
            write.kernel(20, 1, correlation=1),
        ),
        *(
            write.step(2, 100, 100),
            write.launch(110, 1),
            write.kernel(120, 1, correlation=1),
        ),
        # Work that starts before its only calls by the skew of clocks takes the next.
        *(
            write.launch(30, 2),
            write.launch(130, 2),
            write.kernel(29, 1, correlation=2),
        ),
    ]
    rows = read_trace(events).kernels
    assert rows["step"].to_list() == [1, 2, 1]


def test_external_id_links_work_without_correlation(
    read_trace: ReadTrace, write: Any
) -> None:
    call = write.launch(1, 0, **{"External id": 77})
    rows = read_trace(
        [
            call,
            write.kernel(5, 1, External_id=77),
            write.kernel(6, 1, External_id=77, correlation=0),
            write.kernel(7, 1, External_id=77, correlation=12),
            write.kernel(8, 1),
        ]
    ).kernels
    assert rows["linked"].to_list() == [True, True, False, False]


def test_devices_of_steps_are_no_steps_of_the_host(
    read_trace: ReadTrace, write: Any
) -> None:
    events = [write.step(1, 0, 9), write.step(1, 2, 9, cat="gpu_user_annotation")]
    assert len(read_trace(events, name="rank0.json").steps) == 1


def test_records_and_batches_of_a_large_trace(
    read_trace: ReadTrace, write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN spools and frames so small that a trace of 500 kernels fills many
    monkeypatch.setattr("ingest.sources._kineto.gather.WORK_ROWS", 16)
    monkeypatch.setattr("ingest.sources._kineto.gather.LAUNCH_ROWS", 16)
    monkeypatch.setattr("ingest.sources.kineto.WORK_IN_MEMORY", 64)
    monkeypatch.setattr("ingest.sources.kineto.LAUNCHES_IN_MEMORY", 64)
    count = 500
    events = [
        *(
            write.kernel(100 + one, 1, "nccl", correlation=one + 1)
            for one in range(count)
        ),
        *(write.launch(one, count - one) for one in range(count)),
        write.step(3, 0, count),
    ]
    # WHEN it is read
    rows = read_trace({"traceEvents": events}, name="rank0.json")
    # THEN every kernel found its launch, whichever frame it was in
    assert rows.kernels["event"].to_list() == list(range(count))
    assert rows.kernels["step"].to_list() == [3] * count
    assert rows.collectives["enqueue_ns"].to_list() == [
        1_000 * (count - 1 - one) for one in range(count)
    ]
    assert rows.records == 2 * count + 1
