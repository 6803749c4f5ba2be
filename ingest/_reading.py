"""Read one file: its rows, its refusals, and what is told of it."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from polars.exceptions import PanicException, PolarsError

from ingest import files
from ingest._chunks import Chunks
from ingest._expanded import ExpandedFile, Fault
from ingest._guess import guess
from ingest._shelf import Shelf
from ingest.errors import UnreadableFileError
from ingest.mapping import Mapping
from ingest.sources import Batch, Reading, Refusal, Source
from ingest.tables import IngestedFiles

#: Source of a file that no source claims.
UNRECOGNIZED: Final = "unrecognized"

#: Rule of a file that its reader could not bear: a fault of ours, not of the file.
READER_FAILED: Final = "reader_failed"

#: What a reader may raise where it has a fault. The other files of an ingest must not
#: pay for it; that a reader has none is shown by tests, which look for the rule.
FAULTS: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    PanicException,
    PolarsError,
    pa.ArrowException,
)

#: Characters of the head of an unrecognized file that are kept.
_HEAD_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that is to be read.

    Attributes:
        path: Where it is.
        display_path: Its path as text that can be stored.
        source: Source that reads it; None where none claims it.
        reading: What the reader is told.
        sha256: Hash of its expanded content.
        size: Size of its expanded content. [B]
        supersedes: Identities of the files whose rows leave when its rows come.
        fault: What is wrong with it in the archive that it was unpacked from.
        mappings: Mappings that apply to it, whether one claims it or not.
    """

    path: Path
    display_path: str
    source: Source | None
    reading: Reading
    sha256: str
    size: int
    supersedes: tuple[str, ...] = ()
    fault: Fault | None = None
    mappings: tuple[Mapping, ...] = ()


def read(candidate: Candidate, shelf: Shelf) -> dict[str, Any]:
    """Read a file onto the shelf; return its row of IngestedFiles without the counts.

    Where a reader gives up (UnreadableFileError), or an envelope is cut or damaged,
    the rows before that place are kept and the rest is one refused record.
    """
    chunks = Chunks(candidate.reading.file_id, shelf)
    for batch in _batches(candidate):
        chunks.take(batch)
    chunks.finish()
    return _told(candidate, chunks)


def _batches(candidate: Candidate) -> Iterator[Batch]:
    """Yield what the reader gives, and what ended it before its time as a refusal."""
    try:
        with files.open_expanded(candidate.path, candidate.size) as stream:
            yield from _batches_of(candidate, stream)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        yield _refusal("unreadable", "file", hint=reason)


def _batches_of(candidate: Candidate, stream: ExpandedFile) -> Iterator[Batch]:
    if candidate.source is None:
        yield _unrecognized(candidate, stream)
        return
    try:
        yield from candidate.source.read(stream, candidate.reading)
    except UnreadableFileError as error:
        hint = f"expected {error.expected}; {error.mend}"
        yield _refusal("unreadable", error.place, hint=hint)
    except FAULTS as error:
        name = candidate.source.name
        said = f"{type(error).__name__}: {error}"[:_HEAD_CHARACTERS]
        hint = f"a fault of the reader {name} ({said}); report it with the file"
        yield _refusal(READER_FAILED, "file", hint=" ".join(hint.split()))
    if fault := stream.fault or candidate.fault:
        yield _refusal(fault.rule, fault.place, hint=fault.hint)


def _unrecognized(candidate: Candidate, stream: ExpandedFile) -> Batch:
    head = files.head_of(candidate.path)
    raw = head.text[:_HEAD_CHARACTERS]
    stream.peek(1)
    fault = candidate.fault or (None if raw else stream.fault)
    hint = fault.hint if fault else guess(head, candidate.mappings)
    return _refusal(UNRECOGNIZED, "file", raw, hint)


def _refusal(rule: str, place: str, raw: str = "", hint: str | None = None) -> Batch:
    """Refuse a file, or what is left of it, as one record."""
    return Batch(refused=(Refusal(IngestedFiles, place, rule, raw, hint),))


def _told(candidate: Candidate, chunks: Chunks) -> dict[str, Any]:
    source, reading = candidate.source, candidate.reading
    zone, zone_basis = _zone(reading, chunks)
    return {
        "file_id": reading.file_id,
        "path": candidate.display_path,
        "sha256": candidate.sha256,
        "source": source.name if source else UNRECOGNIZED,
        "reader_version": source.version if source else 0,
        "bytes": candidate.size,
        "zone": zone,
        "zone_basis": zone_basis,
        "run_id": reading.run_id or None,
        "run_id_basis": reading.run_id_basis if reading.run_id else "none",
        "ingested_ns": time.time_ns(),
        "rows_read": chunks.rows_read,
        "records_seen": chunks.records_seen,
        "repairs": chunks.repairs,
    }


def _zone(reading: Reading, chunks: Chunks) -> tuple[str | None, str]:
    """Return the zone that naive time stamps were read in, and who says so."""
    if chunks.zone_used:
        return str(reading.zone), reading.zone_basis
    if chunks.zones:
        return ", ".join(sorted(chunks.zones)), "mapping"
    return None, "none"
