"""Results of nccl-tests: what they print, or the document that `-J` writes.

* Sizes are those of the whole message, times microseconds, 1 GB/s is 1e9 B/s.
* A row gives two: out of place and in place. A half that was not measured gives none.
* Bandwidths must be size over time within the rounding of what is printed; a row whose
  are not was damaged, and is refused.
* The kind is what the test calls itself, else the name of the file, else an all-reduce
  where the bus bandwidth is the greater one: no other kind has that.
* Ranks are those of one group, where a run has several that measure side by side.
* Only the document and the option for time stamps tell a time; it names no zone.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import msgspec
import polars as pl

from ingest.communication import collective_kind
from ingest.errors import UnreadableFileError
from ingest.sources._lines import TRUNCATED, Block, blocks, refuse_all
from ingest.sources._nccl_tests_console import HEADER, Console, Row, wanted
from ingest.sources._nccl_tests_json import cells_of, stamp_ns, test_of
from ingest.sources._nccl_tests_rows import frame_of, kind_of, row_of
from ingest.sources._source import (
    RAW_CHARACTERS,
    Batch,
    Head,
    Reading,
    Refusal,
    Source,
)
from ingest.tables import BandwidthTests

#: Largest document that is read: 64 MiB are some 100,000 sizes. [B]
_MOST_BYTES: Final = 64 * 1024 * 1024

#: Bytes that tell a document from a table. [B]
_START_BYTES: Final = 64

_DOCUMENT: Final = re.compile(r'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"start_time"\s*:')
_HALF: Final = ('"config"', '"results"', '"bus_bw"')

_MISMATCH: Final = "bandwidth and time do not agree: part of the row is of another"


def recognizes(head: Head) -> bool:
    """Return whether there is the header of a table, or the start of a document."""
    text = head.text
    if text.lstrip().startswith("{"):
        begins = bool(_DOCUMENT.match(text)) and '"nccl_version"' in text
        return begins or all(key in text for key in _HALF)
    return bool(HEADER.search(text))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a file of results.

    Raises:
        UnreadableFileError: If it is a document that is damaged or too large.
    """
    start = stream.read(_START_BYTES)
    if start.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n\0").startswith(b"{"):
        yield from _read_document(start + stream.read(_MOST_BYTES), reading)
    else:
        yield from _read_console(blocks(stream, start), reading)


def _read_console(lines: Iterator[Block], reading: Reading) -> Iterator[Batch]:
    console, position = Console(), 0
    name_kind = _kind_in_name(reading.name)
    for block in lines:
        batch = _batch(block, console, name_kind, position, reading)
        position += sum(frame.height for frame in batch.rows.values())
        yield batch
    if console.layout and not console.rows_seen:
        hint = "a test began and printed no result"
        refusal = Refusal(BandwidthTests, "last line", "rows|required", "", hint)
        yield Batch(refused=(refusal,), records=1)


def _batch(
    block: Block,
    console: Console,
    name_kind: str | None,
    position: int,
    reading: Reading,
) -> Batch:
    lines = block.table()
    cut = lines.filter(pl.col("rule").is_not_null())
    rows: list[dict[str, object]] = []
    refused = list(refuse_all(BandwidthTests, cut))
    last = lines["place"][-1] if block.cut_short else None
    for place, line in wanted(lines).select("place", "line").iter_rows():
        for found in console.rows(line):
            row = TRUNCATED if place == last else _row(found, console, name_kind)
            if isinstance(row, dict):
                at = position + len(rows)
                stamped = {"time_ns": stamp_ns(found.stamp, reading)}
                row |= stamped if found.stamp else {}
                rows.append(row | {"position": at, "place": place})
            else:
                refused.append(_refuse(place, row, line))
            if row == TRUNCATED:
                break
    return Batch(
        rows={BandwidthTests: frame_of(rows, reading)} if rows else {},
        refused=tuple(refused),
        records=len(rows) + len(refused),
        repairs=block.repairs,
        zone_used=any(row["time_ns"] is not None for row in rows),
    )


def _row(
    found: Row, console: Console, name_kind: str | None
) -> dict[str, object] | str:
    if found.cells is None:
        return found.rule or "cell_count"
    return row_of(found.cells, console.test, name_kind)


def _refuse(place: str, rule: str, raw: str) -> Refusal:
    hint = _MISMATCH if rule.endswith("bw_gbs|value") else None
    return Refusal(BandwidthTests, place, rule, raw[:RAW_CHARACTERS], hint)


def _read_document(data: bytes, reading: Reading) -> Iterator[Batch]:
    text = data.decode("utf-8-sig", errors="replace").rstrip("\0 \t\r\n")
    expected = "a document of nccl-tests"
    if len(data) >= _MOST_BYTES:
        mend = f"at most {_MOST_BYTES} bytes are read"
        raise UnreadableFileError(reading.path, "file", expected, mend)
    try:
        document = msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        mend = f"it is cut or damaged ({error}); the console output may have the rest"
        place = f"byte {len(data)}" if "truncated" in str(error) else "file"
        raise UnreadableFileError(reading.path, place, expected, mend) from error
    test = test_of(document, reading)
    results = document.get("results")
    rows: list[dict[str, object]] = []
    refused: list[Refusal] = []
    for number, result in enumerate(results if isinstance(results, list) else []):
        for cells in cells_of(result):
            row = row_of(cells, test, _kind_in_name(reading.name))
            place = f"result {number}"
            if isinstance(row, dict):
                rows.append(row | {"position": len(rows), "place": place})
            else:
                refused.append(_refuse(place, row, str(cells)))
    if not rows and not refused:
        hint = "the document has no result"
        refused.append(Refusal(BandwidthTests, "file", "rows|required", "", hint))
    yield Batch(
        rows={BandwidthTests: frame_of(rows, reading)} if rows else {},
        refused=tuple(refused),
        records=len(rows) + len(refused),
        repairs=int("\ufffd" in text),
        zone_used=test.time_ns is not None,
    )


def _kind_in_name(name: str) -> str | None:
    """Return the kind that the name of a file means; None where it means none."""
    means = pl.select(collective_kind(pl.lit(name))).item()
    return kind_of(str(means)) if means else None


SOURCE: Final = Source(
    name="nccl-tests",
    version=1,
    describes="Results of nccl-tests, printed or as -J writes them",
    tables=(BandwidthTests,),
    options=frozenset({"zone", "run_id", "name"}),
    recognizes=recognizes,
    read=read,
)
