"""Tell new files from known ones, and what a new file takes the place of."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from ingest._empty import EMPTY
from ingest._hashing import Hashed, look
from ingest._looking import Kin
from ingest._made_truth import MADE_TRUTH
from ingest.discovery import Found
from ingest.known import Known, index_of, superseded
from ingest.sources import Reading
from ingest.staging import Candidate

#: Source of a file that holds nothing.
EMPTY_SOURCE: Final = EMPTY.name

#: Source of the truth about a made cluster: nothing of it is telemetry.
TRUTH_SOURCE: Final = MADE_TRUTH.name

#: Files that are staged together, unless their sizes say otherwise.
BATCH_FILES: Final = 256

#: Batches of one ingest at the most: each is a task of a night.
MOST_BATCHES: Final = 200

#: Size of the files that are staged together. [B]
BATCH_BYTES: Final = 64 * 1024 * 1024

#: Batches that an ingest has where its files are large enough for so many, and the size
#: of one that is not cut for it: all cores should have some to read until the end.
FEW_BATCHES: Final = 16
LEAST_BYTES: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Again:
    """A file that is not read, since another of the same ingest holds all of it.

    Attributes:
        path: The file, as it is shown.
        of: The other.
        is_copy: Whether they are equal; it is the beginning of the other where not.
    """

    path: str
    of: str
    is_copy: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What an ingest has to do.

    Attributes:
        candidates: Files to read.
        known: Files whose rows are in the lake already, or come with another file.
        unreadable: Files that could not be opened, and why.
        empty: Files that hold nothing, known or not. [1]
        again: Those of the known files that another file of this ingest holds.
    """

    candidates: tuple[Candidate, ...]
    known: tuple[Path, ...]
    unreadable: tuple[tuple[str, str], ...]
    empty: int = 0
    again: tuple[Again, ...] = ()

    def batches(self) -> Iterator[list[Candidate]]:
        """Yield candidates in batches of bounded size, and never too many batches."""
        total = sum(c.size for c in self.candidates)
        few = max(LEAST_BYTES, min(BATCH_BYTES, total // FEW_BATCHES))
        least = max(few, total // MOST_BATCHES)
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

    A file that is the beginning of another of the same source and run is not read: it
    counts as known, whichever came first.

    Args:
        found: Files that were asked for.
        known: Rows of IngestedFiles of the lake.
    """
    lake = index_of(known)
    hashed, unreadable = look(found, lake)
    ids = {file.file_id for file in hashed}
    beginnings = _beginnings(hashed, lake)
    candidates: list[Candidate] = []
    old: list[Path] = []
    again: list[Again] = []
    taken: dict[str, str] = {}
    for file in hashed:
        mine = (file.opened.kin, file.opened.says, file.print_.sha256)
        longer = beginnings.get(mine)
        same = taken.get(file.file_id)
        if longer or same or file.file_id in lake.ids:
            old.append(file.opened.file.path)
            of = longer or same
            if of and file.file_id not in lake.ids:
                again.append(Again(file.opened.path, of, longer is None))
        else:
            taken[file.file_id] = file.opened.path
            candidates.append(_candidate(file, superseded(file, lake, ids)))
    empty = sum(file.opened.source is EMPTY for file in hashed)
    return Plan(tuple(candidates), tuple(old), tuple(unreadable), empty, tuple(again))


def _beginnings(
    hashed: Sequence[Hashed], lake: Known
) -> dict[tuple[Kin, str, str], str]:
    # where the longer file gave no row, the shorter one is all there is; where a name
    # tells the host, a log of another name is that of another node
    longer: dict[tuple[Kin, str, str], str] = {}
    for file in reversed(hashed):
        if file.opened.source and file.file_id not in lake.fruitless:
            told = (file.opened.kin, file.opened.says)
            keys = ((*told, sha256) for sha256 in file.print_.prefixes)
            longer |= dict.fromkeys(keys, file.opened.path)
    return longer


def _candidate(file: Hashed, taken: Iterable[str]) -> Candidate:
    return Candidate(
        path=file.opened.file.path,
        display_path=file.opened.path,
        source=file.opened.source,
        reading=reading_of(file),
        sha256=file.print_.sha256,
        size=file.print_.size,
        supersedes=tuple(sorted(taken)),
        fault=file.opened.file.fault,
        mappings=file.opened.file.mappings,
    )


def reading_of(hashed: Hashed) -> Reading:
    """Return what the reader of a file is told."""
    file = hashed.opened.file
    return Reading(
        path=hashed.opened.path,
        name=hashed.opened.name,
        file_id=hashed.file_id,
        zone=file.zone,
        zone_basis=file.zone_basis,
        run_id=file.run_id,
        run_id_basis=file.run_id_basis,
        cluster=file.cluster,
        modified_ns=hashed.opened.modified_ns,
        year=file.year,
    )
