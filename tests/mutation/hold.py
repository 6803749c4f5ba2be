"""A process that brings damaged copies of a file into a lake, and what it says then."""

import json
import resource
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from ingest import files
from ingest._reading import READER_FAILED
from ingest.lake import known_files, open_writer, snapshot
from ingest.sources import SOURCES, Source
from ingest.staging import stage
from ingest.tables import RejectedRows
from tests.ingest.tiny import assert_accounted, candidate
from tests.mutation.mutants import mutants

#: Damaged copies that go into one lake, so that their rows meet. [1]
TOGETHER = 25

#: Copies that are staged and committed at once. [1]
AT_ONCE = 5


@dataclass
class Held:
    """What became of the copies.

    Attributes:
        copies: Copies read. [1]
        claimed: Copies that the source of the whole file still recognizes. [1]
        rows_read: Rows of all copies. [1]
        rows_rejected: Refused ones among them. [1]
        peak_growth: Memory at its peak beyond what the whole file took. [B]
    """

    copies: int = 0
    claimed: int = 0
    rows_read: int = 0
    rows_rejected: int = 0
    peak_growth: int = 0


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def assert_held(root: Path) -> None:
    """Every row of a lake is accounted for, and no reader had a fault."""
    assert_accounted(root)
    assert_no_fault(snapshot(root).scan(RejectedRows).collect())


def assert_no_fault(refused: pl.DataFrame) -> None:
    failed = refused.filter(RejectedRows.rule.col == READER_FAILED)
    assert failed.is_empty(), failed["hint"].to_list()


def bring(root: Path, paths: list[Path], source: Source | None) -> None:
    """Bring files into a lake by one source, each content once, and hold the law."""
    copies = [candidate(path, source=source) for path in paths]
    known = list({copy.reading.file_id: copy for copy in copies}.values())
    with open_writer(root) as writer:
        for first in range(0, len(known), AT_ONCE):
            writer.commit([stage(root, known[first : first + AT_ONCE])])
    assert_held(root)


def hold(sample: Path, folder: Path, count: int) -> Held:
    """Read damaged copies of a file by the source that reads the whole file.

    Every copy is shown to all sources, too: none may fail at its head. What the copy
    is taken for then is of no matter here.
    """
    source = files.recognize(files.head_of(sample), SOURCES)
    assert source is not None, f"{sample}: no source recognizes it"
    bring(folder / "whole", [sample], source)
    start = peak()
    held = Held()
    copies: list[Path] = []
    for name, data in mutants(sample.read_bytes(), sample.name, count):
        path = folder / f"{name}{sample.suffix}"
        path.write_bytes(data)
        held.copies += 1
        held.claimed += files.recognize(files.head_of(path), SOURCES) is source
        copies.append(path)
    for first in range(0, len(copies), TOGETHER):
        root = folder / f"lake-{first}"
        bring(root, copies[first : first + TOGETHER], source)
        known = known_files(root)
        held.rows_read += int(known["rows_read"].sum())
        held.rows_rejected += int(known["rows_rejected"].sum())
    held.peak_growth = peak() - start
    return held


if __name__ == "__main__":
    told = hold(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write(json.dumps(asdict(told)))
