"""The list of live parts. To replace it is to commit, and nothing else is."""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal, get_args

import polars as pl

from ingest import _disk
from ingest.errors import LakeError

#: What the rows of a part are. `duplicate` parts hold rows that lost to an equal key:
#: no table shows them, but they come back when the row that won leaves.
Kind = Literal["raw", "derived", "result", "rollup", "duplicate"]

#: File in the lake's folder that lists its parts.
MANIFEST: Final = "manifest.parquet"

_FILES: Final = "file_ids"
_COMMA: Final = ","

#: Layout of the manifest, so that a newer one is not misread.
_FORMAT: Final = "1"

_SCHEMA: Final[dict[str, pl.DataType]] = {
    "state": pl.String(),
    "table": pl.String(),
    "day": pl.String(),
    "path": pl.String(),
    "rows": pl.Int64(),
    "bytes": pl.Int64(),
    "key_min": pl.String(),
    "key_max": pl.String(),
    "file_ids": pl.List(pl.String()),
    "fingerprint": pl.String(),
    "kind": pl.String(),
    "result_key": pl.String(),
    "replaced_ns": pl.Int64(),
    "content": pl.String(),
    "owner": pl.String(),
    "key_first": pl.String(),
    "key_last": pl.String(),
}

#: Columns that a lake may have been written before they were thought of.
_NEWER: Final = ("content", "owner", "key_first", "key_last")


@dataclass(frozen=True, slots=True)
class Part:
    """An immutable Parquet file with rows of one table and one day.

    Attributes:
        table: Name of the table.
        day: UTC day of its rows, as YYYY-MM-DD; None for rows without a time.
        path: Where it is under the lake's folder, with forward slashes.
        rows: Rows in it. [1]
        bytes: Size of the file. [B]
        key_min: Least value of each column of the key, as a JSON list.
        key_max: Greatest value of each column of the key, as a JSON list.
        file_ids: Files that its rows were read from, sorted.
        fingerprint: Hash of the names and types of its columns.
        kind: What its rows are.
        result_key: Hash of all that a result was computed from.
        content: What stands for its rows where they came from other parts; None where
            its path does. See ingest.identity.
        owner: Run or cluster that the rows of a rollup are of.
        key_first: Key of its first row, as a JSON list in the key's order, where its
            rows ascend and no two share a key; None where that is not known.
        key_last: Key of its last row, likewise.
    """

    table: str
    day: str | None
    path: str
    rows: int
    bytes: int
    key_min: str
    key_max: str
    file_ids: tuple[str, ...]
    fingerprint: str
    kind: Kind = "raw"
    result_key: str | None = None
    content: str | None = None
    owner: str | None = None
    key_first: str | None = None
    key_last: str | None = None

    def bounds(self, column: str) -> tuple[Any, Any]:
        """Return the least and greatest value of a column of the key; null is least.

        Of a long text they are cut, so that they may be apart where it is one value.
        """
        least, greatest = json.loads(self.key_min), json.loads(self.key_max)
        return least.get(column), greatest.get(column)


@dataclass(frozen=True, slots=True)
class Replaced:
    """A part that left the lake and is kept for those who still read it."""

    path: str
    replaced_ns: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in the lake at one moment.

    Attributes:
        generation: Commits so far.
        parts: Live parts.
        replaced: Parts that left, until they are deleted.
        retired_days: Days by table whose raw rows are gone for good.
    """

    generation: int = 0
    parts: tuple[Part, ...] = ()
    replaced: tuple[Replaced, ...] = ()
    retired_days: frozenset[tuple[str, str]] = frozenset()

    def of(self, table: str, *kinds: Kind) -> Iterator[Part]:
        """Yield the live parts of a table, of some kinds or of all."""
        for part in self.parts:
            if part.table == table and (not kinds or part.kind in kinds):
                yield part


def load(root: Path) -> Manifest:
    """Read the manifest of a lake; a lake without one is empty.

    Raises:
        LakeError: If the manifest is damaged or of another version.
    """
    path = root / MANIFEST
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Manifest()
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror}; check the lake's folder"
        raise LakeError(message) from error
    try:
        return _decode(data)
    except (pl.exceptions.PolarsError, KeyError, TypeError, ValueError) as error:
        message = (
            f"{path}: expected the manifest of a lake, format {_FORMAT}; restore it"
            " from a backup, or ingest into a new folder"
        )
        raise LakeError(message) from error


def replace(root: Path, manifest: Manifest) -> None:
    """Put a manifest in the place of the lake's, whole or not at all."""
    frame = _encode(manifest)
    labels = {"generation": str(manifest.generation), "format": _FORMAT}
    with _disk.replacing(root / MANIFEST) as partial:
        _disk.write_frame(partial, frame, metadata=labels)


def _encode(manifest: Manifest) -> pl.DataFrame:
    live = _columns(manifest.parts, Part)
    replaced = _columns(manifest.replaced, Replaced)
    retired = pl.DataFrame(
        sorted(manifest.retired_days),
        schema={"table": pl.String, "day": pl.String},
        orient="row",
    )
    states = {"live": live, "replaced": replaced, "retired": retired}
    labelled = [f.with_columns(state=pl.lit(s)) for s, f in states.items()]
    return pl.concat([pl.DataFrame(schema=_SCHEMA), *labelled], how="diagonal")


def _columns(rows: Sequence[Part | Replaced], kind: type) -> pl.DataFrame:
    names = [field.name for field in fields(kind) if field.name != _FILES]
    frame = pl.DataFrame(
        {name: [getattr(row, name) for row in rows] for name in names},
        schema={name: _SCHEMA[name] for name in names},
    )
    if kind is not Part:
        return frame
    # a part may have thousands of files: as one text they are split by Polars
    joined = [_COMMA.join(row.file_ids) for row in rows if isinstance(row, Part)]
    files = pl.Series(_FILES, joined, pl.String).str.split(_COMMA)
    return frame.with_columns(files.list.filter(pl.element() != ""))


def _decode(data: bytes) -> Manifest:
    labels = pl.read_parquet_metadata(io.BytesIO(data))
    if labels["format"] != _FORMAT:
        raise ValueError(labels["format"])
    written = pl.read_parquet(io.BytesIO(data))
    added = [pl.lit(None, _SCHEMA[n]).alias(n) for n in _NEWER if n not in written]
    frame = written.with_columns(added).match_to_schema(_SCHEMA)
    frame = frame.with_columns(pl.col(_FILES).list.join(_COMMA))
    states = frame.partition_by("state", as_dict=True, include_key=False)

    def rows(state: str) -> Iterable[dict[str, Any]]:
        part = states.get((state,))
        return () if part is None else part.iter_rows(named=True)

    return Manifest(
        generation=int(labels["generation"]),
        parts=tuple(_part(row) for row in rows("live")),
        replaced=tuple(Replaced(r["path"], r["replaced_ns"]) for r in rows("replaced")),
        retired_days=frozenset((r["table"], r["day"]) for r in rows("retired")),
    )


def _part(row: dict[str, Any]) -> Part:
    del row["replaced_ns"]
    if row["kind"] not in get_args(Kind):
        raise ValueError(row["kind"])
    row[_FILES] = tuple(row[_FILES].split(_COMMA)) if row[_FILES] else ()
    return Part(**row)
