"""Tables of steps: three encodings, the same rows; integers as they are written."""

import contextlib
import io
import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import UnreadableFileError
from ingest.sources import SOURCES, Batch, Head, Reading, step_table
from ingest.sources._lines import blocks
from ingest.sources._typed import table
from ingest.tables import DataReads, StepTimings
from tests.ingest.readings import held, reading, records, refused, repairs, rows

#: An instant that no float64 holds. [ns]
START = 1_700_000_000_123_456_789

HEADER = "step,rank,start_ns,duration_ns"
ENCODINGS = ("csv", "jsonl", "parquet")


def read(data: bytes | str, told: Reading | None = None) -> list[Batch]:
    content = data if isinstance(data, bytes) else data.encode()
    return list(step_table.read(io.BytesIO(content), told or reading()))


def steps(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    return rows(batches, StepTimings)


def encode(written: list[dict[str, Any]], encoding: str) -> bytes:
    names = list(written[0])
    if encoding == "jsonl":
        return "".join(json.dumps(record) + "\n" for record in written).encode()
    if encoding == "csv":
        lines = [
            names,
            *([_cell(record[name]) for name in names] for record in written),
        ]
        return "".join(",".join(line) + "\n" for line in lines).encode()
    stream = io.BytesIO()
    pl.DataFrame(written, infer_schema_length=None).write_parquet(stream)
    return stream.getvalue()


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if set(text) & set('",') else text


def step(**fields: Any) -> dict[str, Any]:
    return {"step": 7, "rank": 3, "start_ns": START, "duration_ns": 250} | fields


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_samples_in_a_table_of_steps_are_refused_as_one_record(encoding: str) -> None:
    samples = {"sample_from": 0, "sample_to": 8, "host": "a"}
    batches = read(encode([step(**samples), step(rank=4, **samples)], encoding))
    assert len(steps(batches)) == 2
    (found,) = [one for part in batches for one in part.refused]
    assert (found.table, found.rule) == (DataReads, "columns_of_another_table")
    assert found.raw == "sample_from, sample_to"
    assert (records(batches), repairs(batches)) == (3, 3)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_required_columns_are_enough(encoding: str) -> None:
    data = encode([step()], encoding)
    assert step_table.recognizes(Head("any", data[:65_536]))
    batches = read(data)
    (row,) = steps(batches)
    assert {name: row[name] for name in step()} == step()
    assert (row["run_id"], row["clock"], row["scope"]) == ("asked", "host", "rank")
    assert row["step_count"] == 1
    assert held(batches) == batches
    assert records(batches) == 1
    assert repairs(batches) == 0


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_column_is_taken(encoding: str) -> None:
    full = step(
        run_id="llama, main",
        attempt=1,
        compute_ns=100,
        communication_ns=50,
        wait_ns=40,
        data_ns=30,
        checkpoint_ns=20,
        wait_scope="dp",
        clock="device",
        scope="run_mean",
        step_count=5,
        tokens=8_192,
    )
    (row,) = steps(read(encode([full], encoding)))
    assert {name: row[name] for name in full} == full


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    ("basis", "expected"),
    [
        ("run_card", ["asked", "asked"]),
        ("option", ["said", "asked"]),
        ("folder", ["said", "asked"]),
    ],
)
def test_run_card_then_data_then_what_was_asked(
    encoding: str,
    basis: Literal["run_card", "option", "folder"],
    expected: list[str],
) -> None:
    data = encode([step(run_id="said"), step(run_id=None)], encoding)
    assert [
        row["run_id"] for row in steps(read(data, reading(run_id_basis=basis)))
    ] == expected


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_empty_cell_gets_the_default(encoding: str) -> None:
    data = encode([step(clock="device"), step(clock=None, rank=None)], encoding)
    found = steps(read(data))
    assert [row["clock"] for row in found] == ["device", "host"]
    assert [row["rank"] for row in found] == [3, None]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_other_columns_are_passed_over_and_count_as_repairs(encoding: str) -> None:
    data = encode([step(host="a", note="x, y")] * 2, encoding)
    batches = read(data)
    assert [row["step"] for row in steps(batches)] == [7, 7]
    assert repairs(batches) == 2


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("missing", HEADER.split(","))
def test_a_missing_column_is_named(encoding: str, missing: str) -> None:
    record = step()
    del record[missing]
    with pytest.raises(UnreadableFileError, match=f"logs/any: .*'{missing}'"):
        read(encode([record], encoding))


def test_a_column_that_is_there_twice_is_named() -> None:
    with pytest.raises(UnreadableFileError, match="one column 'step'"):
        read(f"{HEADER},step\n1,2,3,4,5\n")


@pytest.mark.parametrize("column", ["step", "rank", "start_ns", "duration_ns"])
@pytest.mark.parametrize("text", ["12.5", "1e9", "x", "0x10", "1_000", str(2**63), "٣"])
def test_what_is_no_integer_is_refused(column: str, text: str) -> None:
    batches = read(encode([step(), step() | {column: text}, step()], "csv"))
    assert refused(batches) == [("line 3", f"{column}|integer")]
    assert len(steps(batches)) == 2
    assert records(batches) == 3


@pytest.mark.parametrize("value", [12.5, 1e9, "7", True, 2**63, [1]])
def test_what_is_no_integer_is_refused_in_json(value: object) -> None:
    batches = read(encode([step(), step(duration_ns=value), step()], "jsonl"))
    assert refused(batches) == [("line 2", "duration_ns|type")]
    assert len(steps(batches)) == 2


def test_what_no_index_holds_is_refused_in_parquet() -> None:
    batches = read(encode([step(), step(rank=2**31)], "parquet"))
    assert refused(batches) == [("row 2", "rank|integer")]
    assert [row["rank"] for row in steps(batches)] == [3]
    assert '"rank":2147483648' in batches[0].refused[0].raw


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"wait_ns": 0.5}, "'wait_ns': expected int64"),
        ({"clock": 1}, "'clock': expected string"),
    ],
)
def test_a_parquet_column_of_another_type_is_named(
    fields: dict[str, Any], expected: str
) -> None:
    with pytest.raises(UnreadableFileError, match=expected):
        read(encode([step(**fields)], "parquet"))


@pytest.mark.parametrize("cut", [8, 200])
def test_a_damaged_parquet_file_is_unreadable(cut: int) -> None:
    data = encode([step()], "parquet")
    with pytest.raises(UnreadableFileError, match="a whole Parquet file"):
        read(data[:-cut])


@settings(deadline=None)
@given(st.integers(4, 1_500), st.integers(0, 255))
def test_a_byte_that_is_wrong_never_stops_more_than_the_file(
    place: int, value: int
) -> None:
    data = bytearray(encode([step(run_id="aé", step=n) for n in range(50)], "parquet"))
    data[min(place, len(data) - 1)] = value
    with contextlib.suppress(UnreadableFileError):
        read(bytes(data))


class Unseekable(io.BytesIO):
    def seekable(self) -> bool:
        return False


def test_parquet_in_an_envelope_that_cannot_seek() -> None:
    stream: BinaryIO = Unseekable(encode([step()], "parquet"))
    assert len(steps(step_table.read(stream, reading()))) == 1


def test_damaged_lines_are_refused_alone() -> None:
    data = (
        b"\xef\xbb\xbf" + f"{HEADER},clock\r\n".encode() + b"1,0,10,5,host\r\n\r\n"
        b'2,0,10,5,"host"\n'
        b"3,0,10,5\n"
        b"4,0,10,5,host,host\n"
        b'5,0,10,5,"host\n'
        b"6,0,10,5,host\n"
        b"7,0,10,5,host\0\n"
        b" 8 ,0, 10,5,host"
    )
    batches = read(data)
    assert [row["step"] for row in steps(batches)] == [1, 2, 6, 7, 8]
    assert refused(batches) == [
        ("line 5", "cell_count"),
        ("line 6", "cell_count"),
        ("line 7", "cell_count"),
    ]
    assert records(batches) == 8
    assert repairs(batches) == 1


def test_a_damaged_first_line_of_json_is_refused_alone() -> None:
    data = b'{"step": 1\n' + encode([step()], "jsonl") + b'{"step": 2, "ra'
    assert step_table.recognizes(Head("any", data))
    batches = read(data)
    assert len(steps(batches)) == 1
    assert refused(batches) == [("line 1", "json"), ("line 3", "truncated_line")]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_a_file_without_a_line_is_unreadable(data: bytes) -> None:
    with pytest.raises(UnreadableFileError, match="a header or an object"):
        read(data)


@pytest.mark.parametrize("encoding", ["csv", "jsonl"])
def test_blocks_of_any_size_give_the_same_rows(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = encode([step(step=n, note="x") for n in range(20)], encoding)
    whole = read(data)
    monkeypatch.setattr(table, "blocks", partial(blocks, size=64))
    pieces = read(data)
    assert len(pieces) > len(whole)
    assert steps(pieces) == steps(whole)
    assert repairs(pieces) == 1


def test_files_that_are_something_else(shared: Path) -> None:
    other = [
        "nccl/NVIDIA_Megatron-LM/iteration_time_series.csv",
        "power/JimZeyuYang+GPU_Power_Benchmark/plotting/data/5050/A100/timestamps.csv",
        "power/JimZeyuYang+GPU_Power_Benchmark/plotting/data/5050/A100/PMD_start_ts.txt",
        "power/NVIDIA+dcgm-exporter/etc/default-counters.csv",
    ]
    for name in other:
        head = Head(Path(name).name, (shared / "data" / name).read_bytes()[:65_536])
        claims = [source.name for source in SOURCES if source.recognizes(head)]
        assert claims == [], name


def test_a_header_without_a_required_column_is_not_claimed() -> None:
    assert step_table.recognizes(Head("any", f"{HEADER},x\n".encode()))
    assert not step_table.recognizes(
        Head("any", b"step,rank,start_ns,duration\n1,2,3,4\n")
    )
    assert not step_table.recognizes(Head("any", b'{"step": 1, "rank": 0}\n'))


INT64 = st.integers(-(2**63), 2**63 - 1)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "step": INT64,
            "rank": st.integers(0, 2**31 - 1),
            "start_ns": INT64,
            "duration_ns": INT64,
            "wait_ns": st.none() | INT64,
            "run_id": st.text(
                st.characters(codec="ascii", min_codepoint=33), min_size=1
            ),
        }
    ),
    min_size=1,
    max_size=5,
)


@settings(deadline=None)
@given(RECORDS, st.sampled_from(ENCODINGS))
def test_values_come_back_as_they_were(
    written: list[dict[str, Any]], encoding: str
) -> None:
    data = encode([record | {"note": "x"} for record in written], encoding)
    found = steps(read(data))
    assert [{name: row[name] for name in written[0]} for row in found] == written


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_stop_the_reader(data: bytes) -> None:
    batches = read(f"{HEADER},clock\n".encode() + data)
    offered = len(steps(batches)) + len(refused(batches))
    assert offered == records(batches)
    with_json = encode([step()], "jsonl") + data
    assert len(steps(read(with_json))) >= 1
