"""Answers of the Prometheus HTTP API as JSON: query and query_range.

* Answers as they come, lists of results alone, several answers one after the other, and
  the lines of VictoriaMetrics' export (`values` beside `timestamps`).
* Most answers are of one metric, and a power row of one has one column. Each metric
  gets rows of its own, which name it in `series`, so that the answers for power and for
  temperature of one instant are different rows, and the same answer met twice is not.
* Times are decimal seconds and become nanoseconds digit by digit. The time of an
  instant query is that at which it was asked, and that of a range query is a step: the
  value is up to five minutes older. Such rows are `resampled`. A range query whose
  steps are no whole seconds cannot be told from samples.
* Labels of the target that was scraped (`pod`, `namespace`) are not looked at: they are
  those of the exporter itself where `exported_pod` stands beside them.
* The result of an expression names no metric and is refused.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.errors import UnreadableFileError
from ingest.sources._prometheus.documents import Document, Piece
from ingest.sources._prometheus.gather import Gathering
from ingest.sources._prometheus.hosts import Hosts
from ingest.sources._prometheus.registry import Registry
from ingest.sources._prometheus.rows import Maker
from ingest.sources._prometheus.series_samples import Lot
from ingest.sources._prometheus.sift import refusals, sift
from ingest.sources._prometheus.text import TABLES, batch_of
from ingest.sources._prometheus.untimed import FirstScrape
from ingest.sources._source import RAW_CHARACTERS, Batch, Head, Reading, Refusal, Source
from ingest.tables import PowerSamples

_SERIES: Final = re.compile(r'\{\s*"metric"\s*:\s*\{')
_RESULT: Final = re.compile(r'"resultType"\s*:\s*"(?:vector|matrix|scalar|string)"')
_ERROR: Final = re.compile(r'"status"\s*:\s*"error"')
_METRIC: Final = re.compile(r'"metric"\s*:\s*\{')
_REASON: Final = re.compile(r'"error"\s*:\s*"((?:[^"\\]|\\.)*)"')

#: Samples that are turned into columns at a time.
_LOT: Final = 200_000

#: Characters of a server's message that are shown.
_SHOWN: Final = 200


def recognizes(head: Head) -> bool:
    """Return whether the text is an answer, a list of results, or an error."""
    text = head.text.lstrip()
    if not text.startswith(("{", "[")):
        return False
    is_result = _SERIES.search(text) or _RESULT.search(text)
    is_error = _ERROR.search(text) and '"errorType"' in text
    return bool(is_result or is_error)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read answers, series by series.

    Raises:
        UnreadableFileError: If the query failed, or series are in no known form.
    """
    hosts = Hosts(reading.name)
    gathering = Gathering(Maker(reading, hosts, "entry"), alone=True)
    registry, document, lot = Registry(hosts), Document(stream), Lot()
    for number, piece in enumerate(document.pieces(), 1):
        if piece.found is None:
            yield Batch(refused=(_refusal(number, piece),), records=1)
            continue
        lot.add(number, piece.found, registry)
        if piece.is_mended:
            yield Batch(repairs=1)
        if len(lot.samples) >= _LOT or len(lot.series) >= _LOT:
            yield from _batches(lot, gathering, everything=False)
            lot = Lot()
    _check(document, reading)
    yield Batch(repairs=document.repairs)
    yield from _batches(lot, gathering, everything=True)
    if document.is_cut:
        hint = "expected the end of the list of series; fetch the answer again"
        yield Batch(refused=(Refusal(PowerSamples, "end", "truncated", "", hint),))


def _batches(lot: Lot, gathering: Gathering, *, everything: bool) -> Iterator[Batch]:
    samples = lot.frame()
    kept, refused = sift(samples, FirstScrape())
    gathering.take(kept)
    told = refusals(refused, "entry")
    yield batch_of(gathering.whole(everything=everything), told, records=samples.height)


def _check(document: Document, reading: Reading) -> None:
    """Look at what came before the first series.

    Raises:
        UnreadableFileError: If the query failed, or series are in no known form.
    """
    envelope = document.envelope.decode("utf-8", errors="replace")
    if _ERROR.search(envelope):
        reason = _REASON.search(envelope)
        told = f" (it says: {reason[1][:_SHOWN]})" if reason else ""
        expected, mend = '"status":"success"', f"ask the query again{told}"
        raise UnreadableFileError(reading.path, "status", expected, mend)
    if _METRIC.search(envelope):
        expected, mend = 'series that begin with "metric"', "keep the answer as it came"
        raise UnreadableFileError(reading.path, "series", expected, mend)


def _refusal(number: int, piece: Piece) -> Refusal:
    raw = piece.text[: 4 * RAW_CHARACTERS].decode("utf-8", errors="replace")
    hint = "a series of the HTTP API, with `metric` and `value` or `values`"
    place, rule = f"entry {number}", piece.rule or "json"
    return Refusal(PowerSamples, place, rule, raw[:RAW_CHARACTERS], f"expected {hint}")


SOURCE: Final = Source(
    name="prometheus-api",
    version=5,
    describes="answers of the Prometheus HTTP API: query, query_range, export",
    tables=TABLES,
    options=frozenset({"cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
