"""Error files of torchelastic: both shapes, what they tell, what is damaged."""

import io
import json
from typing import Any

import pytest

from ingest.errors import UnreadableFileError
from ingest.sources import torchelastic
from ingest.sources._source import Batch, Head
from ingest.tables import Failures
from ingest.times import SECOND_NS
from tests.ingest.readings import (
    held,
    read_lines,
    reading,
    refused,
    repairs,
    rows,
)

STACK = "Traceback (most recent call last): ..."


def document(message: object, stamp: object = "1605774851", **more: object) -> str:
    extra = {"py_callstack": STACK, "timestamp": stamp}
    return json.dumps({"message": {"message": message, "extraInfo": extra} | more})


def batches_of(text: str) -> list[Batch]:
    return read_lines(torchelastic.SOURCE, text, run_id="llama")


def row_of(text: str) -> dict[str, Any]:
    (row,) = rows(held(batches_of(text)), Failures)
    return row


def test_an_error_with_its_class_and_time() -> None:
    row = row_of(document("RuntimeError: no\nmore"))
    assert (row["code"], row["name"]) == ("RuntimeError", "RuntimeError: no")
    assert row["message"] == "RuntimeError: no\nmore"
    assert (row["time_ns"], row["time_quality"]) == (1_605_774_851 * SECOND_NS, "exact")
    assert (row["source"], row["run_id"]) == ("application", "llama")
    assert (row["host"], row["rank"]) == (None, None)


def test_a_plain_message_of_an_older_file() -> None:
    text = '{"message": "failed", "timestamp": 1605774851}'
    assert torchelastic.recognizes(Head("x", text.encode()))
    row = row_of(text)
    assert (row["code"], row["message"]) == ("error", "failed")
    assert row["time_ns"] == 1_605_774_851 * SECOND_NS


@pytest.mark.parametrize(
    ("stamp", "time_ns"),
    [
        ("1605774851.123456789123", 1_605_774_851_123_456_789),
        (1605774851, 1_605_774_851 * SECOND_NS),
        ("99999999999", None),
        ("9999999999", None),
        ("soon", None),
        (None, None),
        (True, None),
        ([1], None),
    ],
)
def test_times_are_exact_or_not_known(stamp: object, time_ns: int | None) -> None:
    row = row_of(document("E: x", stamp))
    assert row["time_ns"] == time_ns
    assert row["time_quality"] == ("unknown" if time_ns is None else "exact")


@pytest.mark.parametrize(
    ("message", "code", "component"),
    [
        (
            "torch.OutOfMemoryError: CUDA out of memory.",
            "cuda_out_of_memory",
            "software",
        ),
        (
            "RuntimeError: CUDA error: uncorrectable ECC error encountered",
            "cuda_uncorrectable_ecc",
            "gpu_memory",
        ),
        (
            "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp",
            "nccl_peer_lost",
            None,
        ),
        ("SignalException: Process 7 got signal: 15", "worker_exit_signal", None),
        ("my.pkg.BadBatch: 7", "BadBatch", "software"),
        ("words only", "error", "software"),
    ],
)
def test_codes_by_the_message(message: str, code: str, component: str | None) -> None:
    row = row_of(document(message))
    assert (row["code"], row["component"]) == (code, component)


def test_rank_and_host_where_they_are_told() -> None:
    row = row_of(document("E: x", rank=3, hostname="gpu007"))
    assert (row["rank"], row["host"]) == (3, "gpu007")
    assert row_of(document("E: x", rank=1 << 40))["rank"] is None


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (document("E: x")[:-9], "truncated"),
        (document("E: x").replace('"message"', "message", 1), "json"),
        ('{"message": {"message": NaN, "extraInfo": {}}}', "json"),
        (document(7), "message|required"),
        (document(" "), "message|required"),
        ('{"message": null}', "message|required"),
        ("[1]", "json"),
    ],
)
def test_what_is_damaged_is_refused_once(text: str, rule: str) -> None:
    assert refused(batches_of(text)) == [("error", rule)]


def test_deep_nesting_is_refused() -> None:
    assert len(refused(batches_of('{"message": ' + "[" * 100_000))) == 1


def test_bytes_that_are_not_text_are_replaced() -> None:
    text = document("E: caf?").encode().replace(b"?", b"\xe9")
    batches = list(torchelastic.SOURCE.read(io.BytesIO(text), reading()))
    assert repairs(batches) == 1
    assert rows(batches, Failures)[0]["message"] == "E: caf\ufffd"


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (document("E: x"), True),
        ('{"message": "x", "timestamp": "1"}', True),
        ('{"message": "x"}', False),
        ('{"message": "x", "timestamp": "1", "level": "info"}', False),
        ('{"MESSAGE": "x", "extraInfo": {}}', False),
        ("", False),
    ],
)
def test_known_by_its_content(text: str, known: bool) -> None:
    assert torchelastic.recognizes(Head("error.json", text.encode())) is known


def test_a_file_that_is_far_too_long_is_not_read() -> None:
    with pytest.raises(UnreadableFileError, match="at most"):
        batches_of('{"message": "' + "x" * torchelastic.MOST_BYTES + '"}')
