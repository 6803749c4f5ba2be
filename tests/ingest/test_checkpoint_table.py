"""Tables of checkpoints: three encodings, and what they are told from."""

import io
from pathlib import Path
from typing import Any

import pytest

from ingest import _rules
from ingest.errors import UnreadableFileError
from ingest.sources import SOURCES, Batch, Head, checkpoint_table, step_table
from ingest.tables import Checkpoints
from tests.ingest.encoded import ENCODINGS, encode
from tests.ingest.readings import held, reading, refused, repairs, rows


def read(data: bytes) -> list[Batch]:
    return list(checkpoint_table.read(io.BytesIO(data), reading()))


def save(**fields: Any) -> dict[str, Any]:
    known = {"kind": "save", "step": 500, "start_ns": 10**18, "stall_ns": 3}
    return known | fields


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "record",
    [
        save(),
        {"kind": "load", "step": 0, "start_ns": 5, "duration_ns": 9},
        save(
            run_id="llama",
            attempt=2,
            rank=3,
            duration_ns=7,
            durable_ns=10**18 + 9,
            bytes=2**40,
            tier="object",
            data_position=8,
        ),
    ],
)
def test_columns_are_taken_as_they_are(encoding: str, record: dict[str, Any]) -> None:
    data = encode([record], encoding)
    columns = tuple(record) if encoding == "parquet" else ()
    assert checkpoint_table.recognizes(Head("any", data, columns))
    batches = held(read(data))
    (row,) = rows(batches, Checkpoints)
    assert {name: row[name] for name in record} == record
    assert row["run_id"] == record.get("run_id", "asked")
    assert repairs(batches) == 0


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("missing", ["kind", "step", "start_ns"])
def test_a_missing_column_is_named(encoding: str, missing: str) -> None:
    record = save()
    del record[missing]
    with pytest.raises(UnreadableFileError, match=f"a column '{missing}'"):
        read(encode([record], encoding))


def test_one_length_is_needed() -> None:
    told = "'duration_ns'.*start_ns, and one of duration_ns, stall_ns"
    with pytest.raises(UnreadableFileError, match=told):
        read(b"kind,step,start_ns\nsave,1,2\n")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_other_columns_are_passed_over(encoding: str) -> None:
    batches = read(encode([save(path="s3://x")], encoding))
    assert len(rows(batches, Checkpoints)) == 1
    assert repairs(batches) == 1


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"kind": "delete"}, "kind|check"),
        ({"kind": None}, "kind|nullability"),
        ({"stall_ns": -1}, "stall_ns|min"),
        ({"start_ns": None}, "start_ns|nullability"),
    ],
)
@pytest.mark.parametrize("encoding", ["csv", "jsonl"])
def test_what_breaks_a_rule_of_the_table_is_refused(
    fields: dict[str, Any], rule: str, encoding: str
) -> None:
    (batch,) = read(encode([save(), save() | fields], encoding))
    offered = _rules.complete(Checkpoints, batch.rows[Checkpoints], "f", 0)
    (found,) = _rules.check(Checkpoints, offered).refused.to_dicts()
    assert found["rule"] == rule
    assert found["place"].endswith(("line 2", "line 3"))


@pytest.mark.parametrize("text", ["12.5", "1e9", "x", str(2**63)])
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    batches = read(encode([save(), save() | {"stall_ns": text}], "csv"))
    assert refused(batches) == [("line 3", "stall_ns|integer")]


@pytest.mark.parametrize("more", ["compute_ns", "wait_scope", "step_count"])
def test_a_table_of_steps_is_left_alone(more: str) -> None:
    head = Head("any", f"kind,step,rank,start_ns,duration_ns,{more}\n".encode())
    assert not checkpoint_table.recognizes(head)
    assert step_table.recognizes(head)


def test_a_table_of_checkpoints_by_rank_is_no_table_of_steps() -> None:
    head = Head("any", b"kind,step,rank,start_ns,duration_ns\nsave,1,0,5,9\n")
    first = next(source for source in SOURCES if source.recognizes(head))
    assert first.name == "checkpoint-table"


def test_the_sample_is_claimed_first(project: Path) -> None:
    for path in sorted((project / "sample_traces/formats/checkpoint-table").iterdir()):
        told = Head(path.name, path.read_bytes())
        first = next(source for source in SOURCES if source.recognizes(told))
        assert first.name == "checkpoint-table"
