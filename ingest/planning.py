"""Tell new files from known ones, and what a new file takes the place of."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from ingest import files
from ingest.discovery import Found
from ingest.known import Known, display, index_of, superseded
from ingest.sources import SOURCES, Reading, Source
from ingest.staging import UNRECOGNIZED, Candidate

#: Files that are staged together, unless their sizes say otherwise.
BATCH_FILES: Final = 256

#: Batches of one ingest at the most: each is a task of a night.
MOST_BATCHES: Final = 200

#: Expanded size of the files that are staged together. [B]
BATCH_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """What an ingest has to do.

    Attributes:
        candidates: Files to read.
        known: Files whose rows are in the lake already.
        unreadable: Files that could not be opened, and why.
    """

    candidates: tuple[Candidate, ...]
    known: tuple[Path, ...]
    unreadable: tuple[tuple[str, str], ...]

    def batches(self) -> Iterator[list[Candidate]]:
        """Yield candidates in batches of bounded size, and never too many batches."""
        least = max(BATCH_BYTES, sum(c.size for c in self.candidates) // MOST_BATCHES)
        files = max(BATCH_FILES, -(-len(self.candidates) // (MOST_BATCHES // 2 - 1)))
        batch: list[Candidate] = []
        size = 0
        for candidate in self.candidates:
            if batch and (len(batch) == files or size > 2 * least):
                yield batch
                batch, size = [], 0
            batch.append(candidate)
            size += candidate.size
        if batch:
            yield batch


def plan(found: Sequence[Found], known: pl.DataFrame) -> Plan:
    """Look at every file once and decide what is to be read.

    Args:
        found: Files that were asked for.
        known: Rows of IngestedFiles of the lake.
    """
    lake = index_of(known)
    candidates: list[Candidate] = []
    old: list[Path] = []
    unreadable: list[tuple[str, str]] = []
    for file in found:
        try:
            candidate = _candidate(file, lake)
        except OSError as error:
            unreadable.append((display(file.path), error.strerror or str(error)))
            continue
        if candidate.reading.file_id in lake.ids:
            old.append(file.path)
        else:
            lake.ids.add(candidate.reading.file_id)
            candidates.append(candidate)
    return Plan(tuple(candidates), tuple(old), tuple(unreadable))


def _candidate(file: Found, lake: Known) -> Candidate:
    head = files.head_of(file.path)
    source = files.recognize(head, SOURCES)
    print_ = files.fingerprint(file.path, lake.sizes)
    options = _options(file, head.name, source)
    file_id = files.file_id(
        print_.sha256,
        source.name if source else UNRECOGNIZED,
        source.version if source else _catalogue(),
        options,
    )
    reading = _reading(file, head.name, file_id)
    taken = superseded(file, source, print_, lake) - {file_id}
    return Candidate(
        path=file.path,
        display_path=display(file.path),
        source=source,
        reading=reading,
        sha256=print_.sha256,
        size=print_.size,
        supersedes=tuple(sorted(taken)),
    )


def _catalogue() -> int:
    # a file that nobody claimed is looked at again when there is a new reader
    return sum(source.version for source in SOURCES)


def _options(file: Found, name: str, source: Source | None) -> dict[str, str | None]:
    values: dict[str, str | None] = {
        "zone": str(file.zone),
        "run_id": f"{file.run_id_basis == 'run_card'}:{file.run_id}",
        "year": str(file.year) if file.year else None,
        "cluster": file.cluster,
        "name": name,
    }
    wanted: Iterable[str] = source.options if source else ()
    return {option: values[option] for option in sorted(wanted)}


def _reading(file: Found, name: str, file_id: str) -> Reading:
    return Reading(
        path=display(file.path),
        name=name,
        file_id=file_id,
        zone=file.zone,
        zone_basis=file.zone_basis,
        run_id=file.run_id,
        run_id_basis=file.run_id_basis,
        cluster=file.cluster,
        modified_ns=file.path.stat().st_mtime_ns,
        year=file.year,
    )
