"""Operations from traces of training frameworks; logs of DLRover and the Trainer."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import files
from ingest.errors import UnreadableFileError
from ingest.sources import (
    SOURCES,
    Batch,
    Head,
    dlrover_events,
    ndtimeline,
    straggler_trace,
    trainer_state,
)
from ingest.tables import Checkpoints, Operations, StepTimings, TrainingMetrics
from tests.examples import examples
from tests.ingest.readings import held, read_lines, reading, records, refused, rows

S = 10**9
TYPES = {
    "dp_rank": pl.Int8,
    "stage": pl.Int8,
    "rank": pl.Int16,
    "step": pl.Int64,
    "optype": pl.Categorical,
    "start_ts": pl.Float32,
    "duration": pl.Float32,
    "seq_id": pl.Int32,
    "mc": pl.Int8,
    "mb_id": pl.Int8,
    "gmc": pl.Int16,
}


def operation(**told: Any) -> dict[str, Any]:
    known: dict[str, Any] = dict.fromkeys(TYPES, 0)
    return (
        known | {"optype": "forward-compute", "start_ts": 0.5, "duration": 0.25} | told
    )


def parquet(*operations: dict[str, Any], types: dict[str, Any] = TYPES) -> bytes:
    file = io.BytesIO()
    pl.DataFrame(list(operations), schema=types).write_parquet(file)
    return file.getvalue()


def straggler(data: bytes) -> list[Batch]:
    return held(straggler_trace.read(io.BytesIO(data), reading()))


def test_an_operation_counts_from_its_step() -> None:
    data = parquet(operation(stage=2, rank=5, step=23, mb_id=1, mc=-1, seq_id=7))
    (row,) = rows(straggler(data), Operations)
    assert (row["offset_ns"], row["duration_ns"]) == (S // 2, S // 4)
    assert (row["pp_rank"], row["microbatch"], row["chunk"]) == (2, 1, None)
    assert (row["sequence"], row.get("start_ns")) == (7, None)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.0, 1e30, None])
def test_times_that_are_none_are_refused(bad: float | None) -> None:
    batches = straggler(parquet(operation(), operation(start_ts=bad, seq_id=1)))
    assert len(rows(batches, Operations)) == 1
    assert refused(batches) == [("row 2", "start_ts|number")]


@pytest.mark.parametrize("name", ["rank", "step", "seq_id", "mb_id", "stage", "mc"])
def test_a_number_of_more_than_64_bits_is_refused(name: str) -> None:
    types = TYPES | {name: pl.UInt64}
    last = operation(seq_id=1, start_ts=None) | {name: 2**64 - 1}
    batches = straggler(parquet(operation(), last, types=types))
    assert len(rows(batches, Operations)) == 1
    assert refused(batches) == [("row 2", f"{name}|range")]


def test_a_column_of_another_type_names_itself() -> None:
    types = TYPES | {"duration": pl.String}
    data = parquet(operation(duration="0.1"), types=types)
    with pytest.raises(UnreadableFileError, match="duration"):
        straggler(data)


@pytest.mark.parametrize(
    ("name", "count", "computed"), [("ST", 6_784, 1_024), ("AR", 117_216, 22_528)]
)
def test_published_traces_are_read_whole(
    shared: Path, name: str, count: int, computed: int
) -> None:
    folder = shared / "data/nccl/ByteDance-Seed_StragglerAnalysis"
    path = folder / f"trace-{name}.parquet"
    source = files.recognize(files.head_of(path), SOURCES)
    assert source is straggler_trace.SOURCE
    with files.open_expanded(path) as stream:
        frames = [b.rows[Operations] for b in source.read(stream, reading())]
    found = pl.concat(frames)
    kinds = dict(found["kind"].value_counts().iter_rows())
    assert (found.height, found.select(Operations.key[3:]).n_unique()) == (count, count)
    assert kinds["forward-compute"] == kinds["backward-compute"] == computed
    assert len(kinds) == 13
    given_s = pl.read_parquet(path)["duration"].cast(pl.Float64).sum()
    assert found["duration_ns"].sum() / S == pytest.approx(given_s, abs=1e-4)


def timeline(**told: Any) -> str:
    known = {
        "rank": 3,
        "metric": "forward-compute",
        "step": 12,
        "start_ts": [1772442049.2, 1772442049.4],
        "duration": [0.1402, 0.14],
        "model_chunk": 0,
        "stage": 1,
        "dp_rank": 0,
        "tp_rank": 1,
    }
    # more digits than a float64 has
    return json.dumps(known | told).replace("[1772442049.2,", "[1772442049.2000011,")


def test_every_start_of_a_record_is_an_operation() -> None:
    batches = held(read_lines(ndtimeline.SOURCE, timeline()))
    found = [
        (r["start_ns"], r["duration_ns"], r["sequence"])
        for r in rows(batches, Operations)
    ]
    assert found == [
        (1_772_442_049_200_001_100, 140_200_000, 0),
        (1_772_442_049_400_000_000, 140_000_000, 1),
    ]


def test_records_that_cannot_be_read_are_refused_alone() -> None:
    batches = held(
        read_lines(
            ndtimeline.SOURCE,
            timeline(duration=[0.1]),
            timeline(step=None),
            timeline(rank="x"),
            timeline(start_ts=["soon", 1.5]),
            timeline(step=None, iteration=4, start_ts=[1], duration=[2]),
            timeline()[:-1],
            timeline(step=2**63),
            timeline(rank=10**99),
        )
    )
    assert sorted(refused(batches)) == [
        ("line 1", "duration|count"),
        ("line 2", "step|required"),
        ("line 3", "rank|type"),
        ("line 4 entry 1", "start_ts|number"),
        ("line 6", "json"),
        ("line 7", "step|type"),
        ("line 8", "rank|type"),
    ]
    assert [row["step"] for row in rows(batches, Operations)] == [12, 4]
    assert records(batches) == 8


def event(stamp: str, name: str, kind: str, identity: str = "a1", **facts: Any) -> str:
    return (
        f"[2026-03-02T12:00:{stamp}] [426] [{identity}] [AtorchTrainerV2] [#{name}]"
        f" [{kind}] {json.dumps(facts)}"
    )


NOON = int(datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()) * S


def test_spans_of_dlrover_are_paired_by_their_identity() -> None:
    batches = held(
        read_lines(
            dlrover_events.SOURCE,
            event("00.000000", "step", "BEGIN", global_step=10),
            event("01.000000", "save", "BEGIN", "b2", global_step=10),
            event("03.500000", "step", "END", global_step=11),
            event("04.000000", "save", "END", "b2", global_step=10),
            event(
                "04.500000", "log", "INSTANT", "c3", global_step=11, logs={"loss": 2.5}
            ),
        )
    )
    (step,) = rows(batches, StepTimings)
    assert (step["step"], step["start_ns"]) == (11, NOON)
    assert step["duration_ns"] == 3 * S + S // 2
    (save,) = rows(batches, Checkpoints)
    assert (save["start_ns"], save["duration_ns"]) == (NOON + S, 3 * S)
    (metric,) = rows(batches, TrainingMetrics)
    assert (metric["step"], metric["loss"]) == (11, 2.5)


def test_a_save_without_an_end_was_never_done() -> None:
    batches = held(
        read_lines(
            dlrover_events.SOURCE,
            event("00.000000", "save", "BEGIN", global_step=10),
            event("01.000000", "save", "END", global_step=10),
            event("02.000000", "save", "BEGIN", "b2", global_step=20),
            event("03.000000", "load", "BEGIN", "c3"),
        )
    )
    found = rows(batches, Checkpoints)
    told = [(row["step"], row["start_ns"], row["duration_ns"]) for row in found]
    assert told == [(10, NOON, S), (20, NOON + 2 * S, None)]
    assert refused(batches) == [("line 4", "end|required")]


def test_halves_of_spans_are_refused() -> None:
    batches = held(
        read_lines(
            dlrover_events.SOURCE,
            event("00.000000", "step", "END", global_step=10),
            event("01.000000", "step", "BEGIN", "b2", global_step=10),
            "[2026-03-02T12:00:01] [426] [x] half",
        )
    )
    assert sorted(refused(batches)) == [
        ("line 1", "begin|required"),
        ("line 2", "end|required"),
        ("line 3", "form"),
    ]


def test_real_events_of_dlrover(shared: Path) -> None:
    folder = shared / "data/nccl/intelligent-machine-learning_dlrover"
    path = folder / "dlrover/python/tests/data/training_events/events_0.log"
    with files.open_expanded(path) as stream:
        batches = held(dlrover_events.read(stream, reading()))
    lengths = [row["duration_ns"] for row in rows(batches, StepTimings)]
    # 23:31:09.074419 to 23:53:35.596206, as the first two lines say
    assert lengths[0] == 1_346_521_787_000
    assert (len(lengths), refused(batches)) == (3, [])
    assert len(rows(batches, Checkpoints)) == 2


def state(history: Any) -> bytes:
    return json.dumps({"global_step": 5, "log_history": history}).encode()


def trainer(data: bytes) -> list[Batch]:
    return held(trainer_state.read(io.BytesIO(data), reading()))


def test_the_history_of_a_trainer() -> None:
    batches = trainer(
        state(
            [
                {"step": 5, "loss": 2.5, "grad_norm": "nan"},
                {"step": 6, "loss": "2.25", "grad_norm": 1},
                {"step": 6, "eval_loss": 2.0},
                {"step": 1.5, "loss": 2.5},
                7,
            ]
        )
    )
    found = [
        (r["step"], r["loss"], r["grad_norm"]) for r in rows(batches, TrainingMetrics)
    ]
    assert found == [(5, 2.5, None), (6, 2.25, 1.0)]
    assert refused(batches) == [
        ("entry 4", "step|required"),
        ("entry 5", "step|required"),
    ]
    assert records(batches) == 5


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"log_history": 5}', b"[" * 9_000, state([1])[:-2]]
)
def test_a_state_that_is_none_is_unreadable(data: bytes) -> None:
    with pytest.raises(UnreadableFileError, match="trainer_state"):
        trainer(data)


@settings(max_examples=examples(40))
@given(st.binary(max_size=300), st.integers(0, 3))
def test_any_bytes_are_answered(data: bytes, which: int) -> None:
    source = (ndtimeline, dlrover_events, straggler_trace, trainer_state)[which].SOURCE
    source.recognizes(Head("any", data))
    try:
        held(source.read(io.BytesIO(data), reading()))
    except UnreadableFileError:
        assert which > 1
