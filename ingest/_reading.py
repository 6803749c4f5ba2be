"""Read one file: its rows, its refusals, and what is told of it."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ingest import files
from ingest._chunks import Chunks
from ingest._shelf import Shelf
from ingest.errors import UnreadableFileError
from ingest.sources import Batch, Reading, Refusal, Source
from ingest.tables import IngestedFiles

#: Source of a file that no source claims.
UNRECOGNIZED: Final = "unrecognized"

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
    """

    path: Path
    display_path: str
    source: Source | None
    reading: Reading
    sha256: str
    size: int
    supersedes: tuple[str, ...] = ()


def read(candidate: Candidate, shelf: Shelf) -> dict[str, Any]:
    """Read a file onto the shelf; return its row of IngestedFiles without the counts.

    Where a reader gives up (UnreadableFileError), or a gzip file is cut or damaged,
    the rows before that place are kept and the rest is one refused record.
    """
    chunks = Chunks(candidate.reading.file_id, shelf)
    try:
        _read(candidate, chunks)
    except OSError as error:
        _refuse(chunks, "unreadable", "file", error.strerror or type(error).__name__)
    chunks.finish()
    return _told(candidate, chunks)


def _read(candidate: Candidate, chunks: Chunks) -> None:
    if candidate.source is None:
        head = files.head_of(candidate.path).text[:_HEAD_CHARACTERS]
        _refuse(chunks, UNRECOGNIZED, "file", head)
        return
    with files.open_expanded(candidate.path) as stream:
        try:
            for batch in candidate.source.read(stream, candidate.reading):
                chunks.take(batch)
        except UnreadableFileError as error:
            _refuse(chunks, "unreadable", error.place, f"expected {error.expected}")
        if fault := stream.fault:
            _refuse(chunks, fault.rule, fault.place, f"expected {fault.expected}")


def _refuse(chunks: Chunks, rule: str, place: str, raw: str) -> None:
    """Refuse a file, or what is left of it, as one record."""
    chunks.take(Batch(refused=(Refusal(IngestedFiles, place, rule, raw),)))


def _told(candidate: Candidate, chunks: Chunks) -> dict[str, Any]:
    source, reading = candidate.source, candidate.reading
    return {
        "file_id": reading.file_id,
        "path": candidate.display_path,
        "sha256": candidate.sha256,
        "source": source.name if source else UNRECOGNIZED,
        "reader_version": source.version if source else 0,
        "bytes": candidate.size,
        "zone": str(reading.zone) if chunks.zone_used else None,
        "zone_basis": reading.zone_basis if chunks.zone_used else "none",
        "run_id": reading.run_id or None,
        "run_id_basis": reading.run_id_basis if reading.run_id else "none",
        "ingested_ns": time.time_ns(),
        "rows_read": chunks.rows_read,
        "records_seen": chunks.records_seen,
        "repairs": chunks.repairs,
    }
