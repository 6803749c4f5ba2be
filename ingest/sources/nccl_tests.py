"""Results of nccl-tests: what they print, or the document that `-J` writes.

* Sizes are those of the whole message, times microseconds, 1 GB/s is 1e9 B/s.
* A row gives two: out of place and in place. A half that was not measured gives none.
* Bandwidths must be size over time within the rounding of what is printed; a row whose
  are not was damaged, and is refused.
* The kind is what the test calls itself, else the name of the file, else an all-reduce
  where the bus bandwidth is the greater one: no other kind has that.
* Rows whose header was lost are read by that of the table before, if they fit it; where
  there is none they are refused.
* Ranks are those of one group, where a run has several that measure side by side.
* Only the document and the option for time stamps tell a time; it names no zone.
"""

import re
from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final

import polars as pl

from ingest.communication import collective_kind
from ingest.errors import UnreadableFileError
from ingest.sources._json_whole import NotJsonError, decode_whole
from ingest.sources._lines import TRUNCATED, Block, blocks, refuse_all
from ingest.sources._nccl.tests_console import HEADER, Console, wanted
from ingest.sources._nccl.tests_found import EMPTY, Found
from ingest.sources._nccl.tests_json import cells_of, stamp_ns, test_of
from ingest.sources._nccl.tests_rows import row_of
from ingest.sources._source import (
    Batch,
    Head,
    Reading,
    Source,
)
from ingest.tables import BandwidthTests

#: Largest document that is read: 64 MiB are some 100,000 sizes. [B]
_MOST_BYTES: Final = 64 * 1024 * 1024

#: Bytes that tell a document from a table. [B]
_START_BYTES: Final = 64

_DOCUMENT: Final = re.compile(r'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"start_time"\s*:')
_HALF: Final = ('"config"', '"results"', '"bus_bw"')


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
        found = Found(position, [])
        found.add("last line", EMPTY, "")
        yield found.batch(reading, 0)


def _batch(
    block: Block,
    console: Console,
    name_kind: str | None,
    position: int,
    reading: Reading,
) -> Batch:
    lines = block.table()
    cut = lines.filter(pl.col("rule").is_not_null())
    found = Found(position, list(refuse_all(BandwidthTests, cut)))
    last = lines["place"][-1] if block.cut_short else None
    for place, line in wanted(lines).select("place", "line").iter_rows():
        measured = list(console.rows(line))
        if place == last and measured:
            found.add(place, TRUNCATED, line)
            continue
        for one in measured:
            row: dict[str, object] | str = one.rule or "cell_count"
            if one.cells is not None:
                stamped_ns = stamp_ns(one.stamp, reading)
                row = row_of(one.cells, console.test, name_kind, stamped_ns)
            found.add(place, row, line)
    return found.batch(reading, block.repairs)


def _read_document(data: bytes, reading: Reading) -> Iterator[Batch]:
    expected = "a document of nccl-tests"
    if len(data) >= _MOST_BYTES:
        mend = f"at most {_MOST_BYTES} bytes are read"
        raise UnreadableFileError(reading.path, "file", expected, mend)
    try:
        document, repairs = decode_whole(data, dict[str, object])
    except NotJsonError as error:
        mend = f"it is cut or damaged ({error}); the console output may have the rest"
        place = f"byte {len(data)}" if error.rule == "truncated" else "file"
        raise UnreadableFileError(reading.path, place, expected, mend) from error
    yield _results(document, reading, repairs)


def _results(document: Mapping[str, object], reading: Reading, repairs: int) -> Batch:
    test, found = test_of(document, reading), Found(0, [])
    name_kind = _kind_in_name(reading.name)
    results = document.get("results")
    for number, result in enumerate(results if isinstance(results, list) else []):
        for cells in cells_of(result):
            row = row_of(cells, test, name_kind)
            found.add(f"result {number}", row, str(cells))
    if found.is_empty:
        found.add("file", EMPTY, "")
    return found.batch(reading, repairs)


def _kind_in_name(name: str) -> str | None:
    """Return the kind that the name of a file means; None where it means none."""
    means = pl.select(collective_kind(pl.lit(name))).item()
    return str(means) if means else None


SOURCE: Final = Source(
    name="nccl-tests",
    version=2,
    describes="results of nccl-tests, printed or as -J writes them",
    tables=(BandwidthTests,),
    options=frozenset({"zone", "run_id", "name"}),
    recognizes=recognizes,
    read=read,
)
