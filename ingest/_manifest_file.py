"""The manifest as a file: read whole, and replaced whole."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, get_args

import polars as pl

from ingest import _disk
from ingest.errors import LakeError
from ingest.manifest import MANIFEST, Kind, Manifest, Part, Replaced

#: Inode, time of change [ns] and size [B] of a manifest.
Stamp = tuple[int, int, int]

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


def stamp(root: Path) -> Stamp | None:
    """Tell one manifest from any other at its place; None where there is none."""
    try:
        now = (root / MANIFEST).stat()
    except OSError:
        return None
    return now.st_ino, now.st_mtime_ns, now.st_size


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
