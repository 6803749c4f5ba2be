"""Structured logs of torchtitan: spans paired, parts of steps, damaged lines."""

import io
import json
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import SOURCES, Batch, Head, torchtitan
from ingest.sources._lines import blocks
from ingest.sources._steps.events import milliseconds_to_ns
from ingest.tables import Checkpoints, StepTimings, Timers, TrainingMetrics
from tests.ingest.readings import held, reading, records, refused, repairs, rows

#: Wall clock of the drawn timelines at their beginning. [us]
ZERO_US = 1_700_000_000_000_000
MS = 1_000_000


def event(
    at_ms: float, name: str, value: float | None = None, **fields: Any
) -> dict[str, Any]:
    """Return a record at a time after zero, as the logger writes it."""
    time_us = ZERO_US + round(at_ms * 1_000)
    known = {
        "rank": 0,
        "global_rank": 0,
        "source": "training",
        "step": 1,
        "time_us": time_us,
        "log_type": "event",
        "log_type_name": name,
        "event_name": None,
        "seq_id": 0,
    }
    if value is not None:
        known["value"] = value
    return known | fields


def metric(at_ms: float, name: str, value: float, **fields: Any) -> dict[str, Any]:
    kind = {"log_type": "instant", "event_name": name}
    return event(at_ms, "metric_value", value, **kind, **fields)


def span(name: str, start_ms: float, end_ms: float, **fields: Any) -> list[Any]:
    return [
        event(start_ms, f"{name}_start", **fields),
        event(end_ms, f"{name}_end", end_ms - start_ms, **fields),
    ]


def log(*records: dict[str, Any]) -> bytes:
    ordered = sorted(records, key=lambda record: record["time_us"])
    return "".join(json.dumps(record) + "\n" for record in ordered).encode()


def read(data: bytes) -> list[Batch]:
    return held(torchtitan.read(io.BytesIO(data), reading()))


def rules_of(batches: Iterable[Batch]) -> list[tuple[str, str, str]]:
    return [(r.table.sql_name(), r.place, r.rule) for b in batches for r in b.refused]


#   ms  0        10       20          50      60
#       |--------------- step 1 ---------------|
#       |-fetch--|        |--- save ---|
STEP = (
    *span("step", 0, 60),
    *span("fetching_batch", 0.5, 10),
    metric(11, "local_valid_tokens", 8192.0),
    *span("checkpoint_save", 20, 50, step_tags=["checkpoint_save"]),
)


def test_a_step_and_its_parts() -> None:
    batches = read(log(*STEP))
    (step,) = rows(batches, StepTimings)
    assert step["run_id"] == "asked"
    assert (step["step"], step["rank"], step["step_count"]) == (1, 0, 1)
    assert (step["clock"], step["scope"], step["tokens"]) == ("host", "rank", 8192)
    assert step["start_ns"] == ZERO_US * 1_000
    assert step["duration_ns"] == 60 * MS
    assert step["data_ns"] == 9_500_000
    assert step["checkpoint_ns"] == 30 * MS
    assert "compute_ns" not in step
    (save,) = rows(batches, Checkpoints)
    assert (save["kind"], save["step"], save["rank"]) == ("save", 1, 0)
    assert save["start_ns"] == (ZERO_US + 20_000) * 1_000
    assert save["duration_ns"] == save["stall_ns"] == 30 * MS
    assert rules_of(batches) == []
    assert records(batches) == len(STEP)


def test_the_value_of_an_end_goes_before_the_time_stamps() -> None:
    start, end = span("step", 0, 60)
    end["value"] = 59.123456789
    assert rows(read(log(start, end)), StepTimings)[0]["duration_ns"] == 59_123_457
    del end["value"]
    assert rows(read(log(start, end)), StepTimings)[0]["duration_ns"] == 60 * MS
    end["value"] = -1.0
    assert rules_of(read(log(start, end))) == [
        ("step_timings", "line 2", "duration_ns|number")
    ]


def test_pauses_to_collect_garbage_are_timers() -> None:
    pause = span("gc_collect", 1, 30)
    batches = read(log(*span("step", 0, 60), *pause, *span("fetching_batch", 2, 12)))
    (timer,) = rows(batches, Timers)
    assert (timer["name"], timer["statistic"]) == ("gc_collect", "rank")
    assert (timer["rank"], timer["step"], timer["occurrence"]) == (0, 1, 0)
    assert timer["duration_ns"] == 29 * MS
    assert timer["time_ns"] == (ZERO_US + 30_000) * 1_000
    assert rows(batches, StepTimings)[0]["data_ns"] == 10 * MS
    assert records(batches) == 6


def test_pauses_that_are_not_whole() -> None:
    lost, failed, bad = (span("gc_collect", at, at + 5) for at in (10, 20, 30))
    bad[1]["value"] = "long"
    written = [lost[1], failed[0], event(24, "gc_collect_error"), failed[1], *bad]
    batches = read(log(*written, event(40, "gc_collect_start")))
    assert rows(batches, Timers) == []
    assert rules_of(batches) == [
        ("timers", "line 1", "timer_without_start"),
        ("timers", "line 4", "timer_failed"),
        ("timers", "line 6", "duration_ns|number"),
        ("timers", "line 7", "timer_without_end"),
    ]


def test_a_part_inside_a_part_counts_once() -> None:
    # subclasses of the checkpointer put a second span around the same save
    tagged = {"step_tags": ["checkpoint_save"]}
    batches = read(
        log(
            *span("step", 0, 100),
            *span("checkpoint_save", 10, 50, **tagged),
            *span("checkpoint_save", 20, 45, **tagged),
            *span("post_dataloading_process", 55, 60),
            *span("fetching_batch", 60.5, 70),
        )
    )
    (step,) = rows(batches, StepTimings)
    assert step["checkpoint_ns"] == 40 * MS
    assert step["data_ns"] == 14_500_000
    assert [row["stall_ns"] for row in rows(batches, Checkpoints)] == [40 * MS]


def test_calls_that_save_nothing_are_no_checkpoints() -> None:
    # the span is around every call, and a step without a save is not tagged
    untagged = read(log(*span("step", 0, 60), *span("checkpoint_save", 50, 50.02)))
    assert rows(untagged, Checkpoints) == []
    assert rows(untagged, StepTimings)[0]["checkpoint_ns"] == 20_000
    long = read(log(*span("step", 0, 60), *span("checkpoint_save", 50, 51)))
    assert len(rows(long, Checkpoints)) == 1


def test_a_load_before_the_first_step() -> None:
    first = span("checkpoint_load", 0, 2_000)
    for record in first:
        del record["step"]
    batches = read(log(*first, *span("step", 3_000, 3_060)))
    (load,) = rows(batches, Checkpoints)
    assert (load["kind"], load["step"]) == ("load", None)
    assert load["stall_ns"] == 2_000 * MS
    assert rows(batches, StepTimings)[0]["checkpoint_ns"] is None


def test_an_error_before_an_end_does_not_unpair_it() -> None:
    start, end = span("checkpoint_save", 20, 50)
    batches = read(
        log(*span("step", 0, 60), start, event(49.9, "checkpoint_save_error"), end)
    )
    assert rows(batches, StepTimings)[0]["checkpoint_ns"] == 30 * MS
    assert rows(batches, Checkpoints) == []
    assert rules_of(batches) == [("checkpoints", "line 4", "checkpoint_failed")]


@pytest.mark.parametrize("name", ["step", "fetching_batch"])
def test_a_step_that_raised_was_not_completed(name: str) -> None:
    written = [
        *span("step", 0, 60),
        *span("fetching_batch", 1, 10),
        event(9.9, f"{name}_error"),
    ]
    batches = read(log(*written))
    assert rows(batches, StepTimings) == []
    assert rules_of(batches) == [("step_timings", "line 5", "step_failed")]


def test_a_log_that_ends_in_a_step() -> None:
    written = [
        *span("step", 0, 60),
        event(70, "step_start", step=2),
        event(80, "checkpoint_save_start", step=2),
    ]
    batches = read(log(*written))
    assert [row["step"] for row in rows(batches, StepTimings)] == [1]
    assert rules_of(batches) == [
        ("step_timings", "line 3", "step_without_end"),
        ("checkpoints", "line 4", "checkpoint_without_end"),
    ]


def test_lost_lines_cost_their_steps_only() -> None:
    written = [
        event(0, "step_end", 5.0, step=1),
        event(10, "step_start", step=2),
        *span("step", 20, 30, step=3),
        event(40, "step_start", step=4),
        event(60, "step_end", 5.0, step=5),
        event(70, "checkpoint_save_end", 5.0, step=5),
        *span("step", 80, 90, step=6),
    ]
    batches = read(log(*written))
    assert [row["step"] for row in rows(batches, StepTimings)] == [3, 6]
    assert rules_of(batches) == [
        ("step_timings", "line 1", "step_without_start"),
        ("step_timings", "line 2", "step_without_end"),
        ("step_timings", "line 5", "step_without_end"),
        ("step_timings", "line 6", "step_without_start"),
        ("checkpoints", "line 7", "checkpoint_without_start"),
    ]


def test_parts_longer_than_their_step_are_left_out() -> None:
    written = [*span("step", 0, 60), *span("fetching_batch", 1, 10)]
    written[3]["value"] = 61.0
    batches = read(log(*written))
    (step,) = rows(batches, StepTimings)
    assert (step["duration_ns"], step["data_ns"]) == (60 * MS, None)
    assert repairs(batches) == 1


def test_ranks_and_tasks_in_one_file_do_not_mix() -> None:
    other = {"global_rank": 3, "rank": 3}
    batches = read(
        log(
            *span("step", 0, 60),
            *span("step", 1, 41, **other),
            *span("fetching_batch", 2, 12, **other),
            *span("checkpoint_load", 3, 23, task_name="a"),
            *span("checkpoint_load", 4, 34, task_name="b"),
        )
    )
    steps = {row["rank"]: row for row in rows(batches, StepTimings)}
    assert {rank: row["duration_ns"] for rank, row in steps.items()} == {
        0: 60 * MS,
        3: 40 * MS,
    }
    assert (steps[0]["data_ns"], steps[3]["data_ns"]) == (None, 10 * MS)
    loads = [row["duration_ns"] for row in rows(batches, Checkpoints)]
    assert loads == [20 * MS, 30 * MS]


def test_loss_and_gradient_norm_of_rank_0() -> None:
    batches = read(
        log(
            metric(1, "loss", 2.5),
            metric(2, "grad_norm", 0.5),
            metric(3, "loss", 9.0, global_rank=1),
            metric(4, "train.loss", 2.25, step=2),
        )
    )
    found = rows(batches, TrainingMetrics)
    assert [(row["step"], row["loss"], row["grad_norm"]) for row in found] == [
        (1, 2.5, 0.5),
        (2, 2.25, None),
    ]
    assert found[0]["time_ns"] == (ZERO_US + 1_000) * 1_000


def test_values_that_are_none() -> None:
    written = [
        *span("step", 0, 60),
        metric(1, "local_valid_tokens", 0.5),
        metric(2, "loss", 1.0) | {"value": "high"},
        metric(3, "loss", 1.0, step=None),
    ]
    batches = read(log(*written))
    assert rows(batches, StepTimings)[0]["tokens"] is None
    assert rules_of(batches) == [
        ("step_timings", "line 2", "tokens|integer"),
        ("training_metrics", "line 3", "loss|number"),
        ("training_metrics", "line 4", "step|required"),
    ]


def test_damaged_lines_are_refused_alone() -> None:
    start, end = log(*span("step", 0, 60)).splitlines(keepends=True)
    data = b"".join(
        (
            b"\xef\xbb\xbf" + start.replace(b"\n", b"\r\n"),
            b"not json\n",
            b'{"time_us": 1.5}\n',
            b'{"log_type": "event"}\n',
            b'{"time_us": 1, "source": "\xff"}\n',
            b'{"time_us": 1, "x": ' + b"[" * 5_000 + b"\n",
            b'{"time_us": 1}\n',
            end,
            b'{"time_us": 17',
        )
    )
    batches = read(data + b"\0" * 100)
    assert len(rows(batches, StepTimings)) == 1
    assert refused(batches) == [
        ("line 2", "json"),
        ("line 3", "time_us|type"),
        ("line 4", "time_us|required"),
        ("line 6", "json"),
        ("line 5", "global_rank|required"),
        ("line 7", "global_rank|required"),
        ("line 9", "truncated_line"),
    ]
    assert records(batches) == 9
    assert repairs(batches) == 2


def test_spans_stay_open_between_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(log(*STEP))
    monkeypatch.setattr(torchtitan, "blocks", partial(blocks, size=300))
    pieces = read(log(*STEP))
    assert len(pieces) > len(whole)
    for table in (StepTimings, Checkpoints):
        assert rows(pieces, table) == rows(whole, table)


@pytest.mark.parametrize("rank", [0, 1])
def test_real_log(shared: Path, rank: int) -> None:
    folder = shared / "data/nccl/pytorch_torchtitan/structured_logs"
    (path,) = folder.glob(f"training.global_rank_{rank}.*.jsonl")
    lines = path.read_text().splitlines()
    written = [json.loads(line, parse_float=Decimal) for line in lines]

    def of_step(name: str) -> dict[int, dict[str, Any]]:
        return {r["step"]: r for r in written if r["log_type_name"] == name}

    def in_ns(ends: dict[int, dict[str, Any]]) -> list[int]:
        return [round(record["value"] * MS) for record in ends.values()]

    batches = read(path.read_bytes())
    steps = rows(batches, StepTimings)
    assert [row["step"] for row in steps] == [1, 2, 3]
    assert {row["rank"] for row in steps} == {rank}
    starts = [1_000 * start["time_us"] for start in of_step("step_start").values()]
    assert [row["start_ns"] for row in steps] == starts
    assert [row["duration_ns"] for row in steps] == in_ns(of_step("step_end"))
    assert [row["data_ns"] for row in steps] == in_ns(of_step("fetching_batch_end"))
    assert [row["checkpoint_ns"] for row in steps[2:]] == in_ns(
        of_step("checkpoint_save_end")
    )
    assert {row["tokens"] for row in steps} == {8192}
    pauses = [r for r in written if r["log_type_name"] == "gc_collect_end"]
    assert [
        (row["step"], row["time_ns"], row["duration_ns"])
        for row in rows(batches, Timers)
    ] == [(r["step"], 1_000 * r["time_us"], round(r["value"] * MS)) for r in pauses]
    assert pauses
    assert [rule for _, _, rule in rules_of(batches)] == ["checkpoint_failed"]
    assert records(batches) == len(written)


def test_the_log_is_known_by_its_fields(shared: Path) -> None:
    folder = shared / "data/nccl/pytorch_torchtitan/structured_logs"
    for path in folder.iterdir():
        head = Head("any", path.read_bytes()[:65_536])
        claims = [source.name for source in SOURCES if source.recognizes(head)]
        assert claims == ["torchtitan"]
    assert not torchtitan.recognizes(Head("training.jsonl", b'{"step": 1}\n'))
    assert torchtitan.recognizes(Head("any", b"damaged\n" + log(*STEP)))


@settings(deadline=None)
@given(st.decimals(0, 10**12, places=12))
def test_milliseconds_are_exact(value: Decimal) -> None:
    expected = round(Fraction(value) * MS)
    assert milliseconds_to_ns(str(value)) == expected


@pytest.mark.parametrize(
    "text",
    ["-1", "1e400", "1e999999999999", "9e14", '"5"', "[]", "true", "1e13", "NaN"],
)
def test_no_duration(text: str) -> None:
    assert milliseconds_to_ns(text) is None


@pytest.mark.parametrize("text", ["0", "1e-300", "1e-999999999999", "0e99999999"])
def test_no_time_at_all(text: str) -> None:
    assert milliseconds_to_ns(text) == 0


NAMES = st.sampled_from(["step", "fetching_batch", "checkpoint_save", "fwd_bwd"])
PHASES = st.sampled_from(["start", "end", "error"])
EVENTS = st.builds(
    lambda at, name, phase, step, rank, value: event(
        at, f"{name}_{phase}", value, step=step, global_rank=rank
    ),
    st.integers(0, 1_000),
    NAMES,
    PHASES,
    st.none() | st.integers(0, 3),
    st.integers(0, 1),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
)


@settings(deadline=None)
@given(st.lists(EVENTS, max_size=40))
def test_any_order_of_spans_gives_sound_steps(written: list[dict[str, Any]]) -> None:
    data = "".join(json.dumps(record) + "\n" for record in written).encode()
    batches = list(torchtitan.read(io.BytesIO(data), reading()))
    for row in rows(batches, StepTimings):
        assert (row["data_ns"] or 0) + (row["checkpoint_ns"] or 0) <= row["duration_ns"]
    assert records(batches) == len(written)
    starts = [r["log_type_name"] for r in written].count("step_start")
    ended = len(rows(batches, StepTimings))
    rules = [rule for _, _, rule in rules_of(batches)]
    unfinished = rules.count("step_without_end") + rules.count("step_failed")
    unfinished += sum(
        rule == "duration_ns|number" and table == "step_timings"
        for table, _, rule in rules_of(batches)
    )
    assert starts == ended + unfinished


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_stop_the_reader(data: bytes) -> None:
    list(torchtitan.read(io.BytesIO(log(*STEP) + data), reading()))
