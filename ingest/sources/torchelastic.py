"""Error file of torchelastic: error.json, which a worker leaves that raised.

`{"message": {"message": "RuntimeError: ...", "extraInfo": {"py_callstack": "...",
"timestamp": "1605774851"}}}` (torch/distributed/elastic/multiprocessing/errors); older
ones have a plain string for a message. The time is whole seconds since the epoch.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._json_whole import NotJsonError, decode_whole
from ingest.sources._source import RAW_CHARACTERS, Batch, Head, Reading, Refusal, Source
from ingest.sources._torchelastic_error import ElasticError, coded, parse
from ingest.tables import Failures

#: Longest error file: a call stack of 10,000 calls takes some 2 MB. [B]
MOST_BYTES: Final = 16 * 1024 * 1024

_WHOLE: Final = re.compile(
    r'\s*\{\s*"message"\s*:\s*\{.*"(?:extraInfo|py_callstack)"\s*:', re.DOTALL
)

#: Keys of an older file, in which the message is a plain string.
_OLDER: Final = frozenset({"message", "timestamp", "errorCode"})


def recognizes(head: Head) -> bool:
    """Return whether the head is a message with what torchelastic says beside it."""
    if _WHOLE.match(head.text):
        return True
    try:
        document, _ = decode_whole(head.data, dict[str, object])
    except NotJsonError:
        return False
    return {"message", "timestamp"} <= document.keys() <= _OLDER


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the error of one file.

    Raises:
        UnreadableFileError: If it is far longer than an error file can be.
    """
    data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        expected = f"an error file of at most {MOST_BYTES} bytes"
        raise UnreadableFileError(reading.path, "file", expected, "cut its call stack")
    try:
        document, repairs = decode_whole(data, dict[str, object])
    except NotJsonError as error:
        if error.text:
            yield _refused(error.rule, error.text, str(error), error.repairs)
        return
    told = parse(document)
    if told is None:
        yield _refused("message|required", data, "a message that is text", repairs)
        return
    yield Batch({Failures: _row(told, reading)}, records=1, repairs=repairs)


def _refused(rule: str, data: bytes, hint: str, repairs: int) -> Batch:
    # four bytes a character at most, so nothing that is kept is lost
    text = data[: 4 * RAW_CHARACTERS].decode("utf-8-sig", errors="replace")
    refusal = Refusal(Failures, "error", rule, text[:RAW_CHARACTERS], hint)
    return Batch(refused=(refusal,), records=1, repairs=repairs)


def _row(error: ElasticError, reading: Reading) -> pl.DataFrame:
    quality = "unknown" if error.time_ns is None else "exact"
    words: dict[str, str | None] = {
        "cluster": reading.cluster,
        "run_id": reading.run_id,
        "host": error.host,
        "time_quality": quality,
        "source": "application",
        "name": error.message.partition("\n")[0][:RAW_CHARACTERS],
        "message": error.message[:RAW_CHARACTERS],
        "place": "error",
        **coded(error.message),
    }
    return pl.select(
        *(pl.lit(value, pl.String).alias(name) for name, value in words.items()),
        time_ns=pl.lit(error.time_ns, pl.Int64),
        rank=pl.lit(error.rank, pl.Int32),
        inferred=pl.lit(value=False),
        line_count=pl.lit(1, pl.Int64),
        occurrence=pl.lit(0, pl.Int32),
    )


SOURCE: Final = Source(
    name="torchelastic-error",
    version=1,
    describes="error.json of a worker that raised, written by torchelastic",
    tables=(Failures,),
    options=frozenset({"run_id", "cluster"}),
    recognizes=recognizes,
    read=read,
)
