"""Read raw files into parts that a commit can bring into the lake."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import polars as pl

from ingest import _parts
from ingest._offers import COUNTED, FIRST, LAST, together
from ingest._parts import Place, write_rollup
from ingest._reading import UNRECOGNIZED, Candidate, read
from ingest._schema import FILE_ID, schema_of
from ingest._shelf import Shelf
from ingest.manifest import Kind, Part
from ingest.tables import IngestedFiles, Table

__all__ = [
    "UNRECOGNIZED",
    "Candidate",
    "Place",
    "Staged",
    "stage",
    "write_parts",
    "write_rollup",
]


@dataclass(frozen=True, slots=True)
class Staged:
    """What reading some files gave: on disk, and not in the lake before a commit.

    Attributes:
        parts: Parts with their rows, refused ones too.
        files: Their rows of IngestedFiles.
        supersedes: By the file that comes, the files that leave.
    """

    parts: tuple[Part, ...]
    files: pl.DataFrame
    supersedes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


#: Rows that are held before they are written. More make better parts, fewer less
#: memory: a row of the widest table takes about 300 B here.
FLUSH_ROWS: Final = 1_000_000


def stage(
    root: Path, candidates: Sequence[Candidate], *, flush_rows: int = FLUSH_ROWS
) -> Staged:
    """Read files into parts. Needs no lock, and may run beside other calls.

    Rows of many small files share a part for each table and day; a long file is
    written as it is read. What a file gives depends on nothing but the file.

    Args:
        root: The lake's folder.
        candidates: Files to read.
        flush_rows: Rows that are held before they are written. [1]
    """
    shelf = Shelf(root, flush_rows)
    try:
        told = [read(candidate, shelf) for candidate in candidates]
        shelf.flush()
    except BaseException:
        shelf.discard()
        raise
    return Staged(
        parts=tuple(shelf.parts),
        files=_files(told, shelf.counts),
        supersedes={c.reading.file_id: c.supersedes for c in candidates},
    )


def _files(
    told: Sequence[Mapping[str, Any]], counts: Sequence[pl.DataFrame]
) -> pl.DataFrame:
    """Return what was told of files, with what was counted."""
    schema = schema_of(IngestedFiles)
    counted = together(counts).group_by(FILE_ID)
    summed = counted.agg(
        pl.col(*COUNTED[:-2]).sum(), pl.col(FIRST).min(), pl.col(LAST).max()
    )
    rows = pl.DataFrame(told, schema={n: schema[n] for n in schema if n not in COUNTED})
    files = rows.join(summed, on=FILE_ID, how="left").with_columns(
        pl.col(*COUNTED[:-2]).fill_null(0)
    )
    return IngestedFiles.validate(files.select(schema.names()))


def write_parts(
    root: Path,
    table: type[Table],
    frame: pl.DataFrame,
    kind: Kind = "result",
    result_key: str | None = None,
) -> list[Part]:
    """Write rows as parts of a table, to be committed later.

    An empty result is a part without rows, so that its key is remembered.

    Args:
        root: The lake's folder.
        table: Table that the rows are of.
        frame: Rows that are valid for the table.
        kind: What the rows are.
        result_key: Hash of all that a result was computed from.
    """
    return _parts.write(root, table, frame, kind, result_key)
