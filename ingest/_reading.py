"""Read one file: its rows, its refusals, and what is told of it."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from ingest import _claims, _parts, files
from ingest._offers import (
    DUPLICATE,
    PLACE,
    as_records,
    check,
    refusals,
    split_repeats,
    tell_apart,
)
from ingest._shelf import Shelf
from ingest._tally import Tally
from ingest.errors import UnreadableFileError
from ingest.manifest import Part
from ingest.sources import Batch, Reading, Refusal, Source
from ingest.tables import IngestedFiles, RejectedRows, Table

#: Source of a file that no source claims.
UNRECOGNIZED: Final = "unrecognized"

#: Memory that rows of one file may take before they are checked for repeats. [B]
_CHUNK_BYTES: Final = 128 * 1024 * 1024

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
    """Read a file onto the shelf and return its row of IngestedFiles.

    Where a reader gives up (UnreadableFileError), or a gzip file is cut or damaged,
    the rows before that place are kept and the rest is one refused record.
    """
    file = _File(candidate, shelf)
    try:
        _read(candidate, file)
    except OSError as error:
        file.refuse("unreadable", "file", error.strerror or type(error).__name__)
    file.finish()
    return file.row()


def _read(candidate: Candidate, file: "_File") -> None:
    if candidate.source is None:
        head = files.head_of(candidate.path).text[:_HEAD_CHARACTERS]
        file.refuse(UNRECOGNIZED, "file", head)
        return
    with files.open_expanded(candidate.path) as stream:
        try:
            for batch in candidate.source.read(stream, candidate.reading):
                file.take(batch)
        except UnreadableFileError as error:
            file.refuse("unreadable", error.place, f"expected {error.expected}")
        if stream.fault:
            fault = stream.fault
            file.refuse(fault.rule, fault.place, f"expected {fault.expected}")


class _File:
    """Rows of one file on their way to the shelf, a chunk at a time."""

    def __init__(self, candidate: Candidate, shelf: Shelf) -> None:
        self._candidate = candidate
        self._file_id = candidate.reading.file_id
        self._shelf = shelf
        self._tally = Tally()
        self._chunk: dict[type[Table], list[pl.DataFrame]] = {}
        self._rows = 0
        self._bytes = 0
        self._written: dict[type[Table], list[list[Part]]] = {}

    def refuse(self, rule: str, place: str, raw: str) -> None:
        """Refuse the file, or what is left of it."""
        self.take(Batch(refused=(Refusal(IngestedFiles, place, rule, raw),)))

    def take(self, batch: Batch) -> None:
        """Check rows and refusals of the reader."""
        self._tally.see(batch)
        self._hold(RejectedRows, refusals(batch.refused, self._file_id))
        for table, frame in batch.rows.items():
            before = self._tally.offered(table, frame.height)
            checked = check(table, frame, self._file_id, before)
            self._tally.span(table, checked.taken)
            self._hold(table, checked.taken)
            self._hold(RejectedRows, checked.refused)
        if self._rows >= self._shelf.flush_rows // 2 or self._bytes >= _CHUNK_BYTES:
            self._write()

    def _hold(self, table: type[Table], frame: pl.DataFrame) -> None:
        if not frame.is_empty():
            self._chunk.setdefault(table, []).append(frame)
            self._rows += frame.height
            self._bytes += frame.estimated_size()

    def _seal(self) -> dict[type[Table], pl.DataFrame]:
        """Take the chunk, without the rows that repeat a key."""
        chunk, self._chunk = self._chunk, {}
        self._rows = self._bytes = 0
        records = chunk.pop(RejectedRows, [])
        sealed = {}
        for table, frames in chunk.items():
            checked = split_repeats(table, pl.concat(frames))
            sealed[table] = checked.taken.drop(PLACE)
            records.append(checked.refused)
            self._tally.accept(checked.taken.height)
        if records:
            sealed[RejectedRows] = tell_apart(pl.concat(records))
            self._tally.reject(sealed[RejectedRows].height)
        return sealed

    def _write(self) -> None:
        """Write the chunk of a file that is longer than one."""
        for table, frame in self._seal().items():
            if table is RejectedRows:
                self._shelf.hold(table, frame)
            else:
                parts = self._shelf.write(table, frame)
                self._written.setdefault(table, []).append(parts)

    def finish(self) -> None:
        """Pass the last rows on, after the last batch."""
        if not self._written:
            for table, frame in self._seal().items():
                self._shelf.hold(table, frame)
            return
        self._write()
        for table, chunks in self._written.items():
            self._refuse_repeats(table, chunks)

    def _refuse_repeats(self, table: type[Table], chunks: list[list[Part]]) -> None:
        """Refuse rows whose key an earlier chunk of the file has."""
        parts = [part for chunk in chunks for part in chunk]
        near = _claims.meeting(parts, parts)
        claims = _claims.claims(self._shelf.root, table, near)
        number = {part.path: n for n, chunk in enumerate(chunks) for part in chunk}
        chunk = pl.col(_claims.PATH).replace_strict(number, return_dtype=pl.Int64)
        late = claims.filter(chunk > chunk.min().over(table.key))
        for (path,), rows in late.group_by(_claims.PATH):
            part = next(part for part in near if part.path == path)
            self._remove(table, part, rows[_claims.ROW], number[part.path])

    def _remove(
        self, table: type[Table], part: Part, rows: pl.Series, chunk: int
    ) -> None:
        leaves = pl.col("_row").is_in(rows.implode())
        stay, leave = _parts.split(self._shelf.root, part, table, leaves)
        key = pl.struct(table.key).struct.json_encode()
        records = leave.with_columns(
            pl.format("{} chunk {}", key, chunk).alias(PLACE), rule=pl.lit(DUPLICATE)
        )
        self._shelf.hold(RejectedRows, as_records(table, records))
        self._shelf.replace(part, _parts.write(self._shelf.root, table, stay))
        self._tally.accept(-leave.height)
        self._tally.reject(leave.height)

    def row(self) -> dict[str, Any]:
        """Return the file's row of IngestedFiles."""
        candidate, reading, tally = (
            self._candidate,
            self._candidate.reading,
            self._tally,
        )
        source = candidate.source
        return {
            "file_id": reading.file_id,
            "path": candidate.display_path,
            "sha256": candidate.sha256,
            "source": source.name if source else UNRECOGNIZED,
            "reader_version": source.version if source else 0,
            "bytes": candidate.size,
            "zone": str(reading.zone) if tally.zone_used else None,
            "zone_basis": reading.zone_basis if tally.zone_used else "none",
            "run_id": reading.run_id or None,
            "run_id_basis": reading.run_id_basis if reading.run_id else "none",
            "ingested_ns": time.time_ns(),
            **tally.counts(),
        }
