"""Tables of data reads: three encodings, other names, and what is refused of them."""

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ingest import _rules
from ingest.errors import UnreadableFileError
from ingest.sources import SOURCES, Batch, Head, data_reads, step_table
from ingest.tables import DataReads
from tests.ingest.readings import reading, refused, repairs, rows

ENCODINGS = ("csv", "jsonl", "parquet")


def read(data: bytes) -> list[Batch]:
    return list(data_reads.read(io.BytesIO(data), reading()))


def encode(written: list[dict[str, Any]], encoding: str) -> bytes:
    frame = pl.DataFrame(written, infer_schema_length=None)
    if encoding == "jsonl":
        return "".join(json.dumps(record) + "\n" for record in written).encode()
    if encoding == "csv":
        return frame.write_csv().encode()
    stream = io.BytesIO()
    frame.write_parquet(stream)
    return stream.getvalue()


def head(data: bytes, encoding: str, names: Iterable[str]) -> Head:
    return Head("any", data[:65_536], tuple(names) if encoding == "parquet" else ())


def sample(**fields: Any) -> dict[str, Any]:
    return {"step": 7, "rank": 3, "sample_from": 24, "sample_to": 32} | fields


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "record",
    [
        sample(),
        sample(epoch=1, dataset="web", tokens=9, tokens_squared=81, attempt=2),
        {"step": 7, "dp_rank": 1, "batch_hash": "a1", "longest_document": 4_096},
    ],
)
def test_columns_are_taken_as_they_are(encoding: str, record: dict[str, Any]) -> None:
    data = encode([record], encoding)
    assert data_reads.recognizes(head(data, encoding, record))
    (row,) = rows(read(data), DataReads)
    assert {name: row[name] for name in record} == record
    assert row["run_id"] == "asked"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_other_names_of_columns_are_known(encoding: str) -> None:
    told = {"iteration": 7, "global_rank": 3, "dp": 1, "start_sample": 24}
    record = told | {"sample_end": 32, "checksum": "a1", "n_tokens": 5, "host": "x"}
    data = encode([record], encoding)
    assert data_reads.recognizes(head(data, encoding, record))
    batches = read(data)
    (row,) = rows(batches, DataReads)
    names = ("step", "rank", "dp_rank", "sample_from", "sample_to", "batch_hash")
    assert [row[name] for name in (*names, "tokens")] == [7, 3, 1, 24, 32, "a1", 5]
    assert repairs(batches) == 1


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_name_and_its_other_name_are_one_column_twice(encoding: str) -> None:
    with pytest.raises(UnreadableFileError, match="one column 'step'"):
        read(encode([sample(iteration=7)], encoding))


def test_a_missing_column_is_named_with_what_would_do() -> None:
    with pytest.raises(UnreadableFileError, match=r"a column 'sample_to'.*batch_hash"):
        read(b"step,rank,sample_from\n1,2,3\n")


@pytest.mark.parametrize("text", ["12.5", "1e9", "x", "0x10", str(2**63)])
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    batches = read(encode([sample(), sample() | {"sample_to": text}], "csv"))
    assert refused(batches) == [("line 3", "sample_to|integer")]
    wrong = sample() | {"sample_to": text}
    batches = read(encode([wrong, sample()], "jsonl"))
    assert refused(batches) == [("line 1", "sample_to|type")]


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"rank": None}, "nobody_read_it"),
        ({"sample_to": None}, "half_a_range"),
        ({"sample_to": 24}, "range_without_samples"),
        ({"sample_from": -(2**63), "sample_to": 2**63 - 1}, "samples_beyond_any_set"),
        ({"sample_to": 2**63 - 1}, "samples_beyond_any_set"),
        ({"sample_to": 2**41}, "samples_beyond_any_set"),
        ({"tokens": -1}, "tokens|min"),
        ({"step": None}, "step|nullability"),
    ],
)
def test_what_breaks_a_rule_of_the_table_is_refused(
    fields: dict[str, Any], rule: str
) -> None:
    records = [sample(epoch=0), sample(epoch=0) | fields]
    (batch,) = read(encode(records, "jsonl"))
    offered = _rules.complete(DataReads, batch.rows[DataReads], "f", 0)
    checked = _rules.check(DataReads, offered)
    assert checked.taken.height == 1
    assert checked.refused.select("place", "rule").rows() == [("line 2", rule)]


@pytest.mark.parametrize(
    "names",
    [
        "step,rank,start_ns,duration_ns,batch_hash",
        "step,rank,start_ns,duration_ns",
        "step,rank,start,end",
        "step,rank,loss",
        "step,sample_from,sample_to",
    ],
)
def test_tables_of_steps_are_left_alone(names: str) -> None:
    told = Head("any", f"{names}\n1,2,3,4,5\n".encode())
    assert not data_reads.recognizes(told)
    assert step_table.recognizes(told) == ("duration_ns" in names)


def test_the_sample_is_claimed_once(project: Path) -> None:
    for path in sorted((project / "sample_traces/formats/data-reads").iterdir()):
        told = Head(path.name, path.read_bytes())
        claims = [source.name for source in SOURCES if source.recognizes(told)]
        assert claims == ["data-reads"]
