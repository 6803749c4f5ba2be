"""What tests of sources share: what a reader is told, and what came of it."""

import io
from collections.abc import Iterable
from datetime import UTC
from typing import Any

import polars as pl

from ingest.sources import Batch, Reading, Source
from ingest.sources._places import PLACE, PLACE_NUMBERS, with_place
from ingest.tables import Table

#: What tells the file of `reading` from others.
MARK = "any ffffffff"


def reading(**told: Any) -> Reading:
    known: dict[str, Any] = {
        "path": "logs/any",
        "name": "any",
        "file_id": "f" * 32,
        "zone": UTC,
        "zone_basis": "assumed",
        "run_id": "asked",
        "run_id_basis": "folder",
        "cluster": "pod",
        "modified_ns": 0,
    }
    return Reading(**known | told)


def read_lines(source: Source, *lines: str, **told: Any) -> list[Batch]:
    """Read lines of text, each with its end."""
    text = "".join(f"{line}\n" for line in lines)
    return list(source.read(io.BytesIO(text.encode()), reading(**told)))


def rows(batches: Iterable[Batch], table: type[Table]) -> list[dict[str, Any]]:
    """Return the rows of a table, whose columns must have the table's types."""
    found = [batch.rows[table] for batch in batches if table in batch.rows]
    frames = [with_place(frame) if _is_told(frame) else frame for frame in found]
    types = pl.Schema(table) | {"place": pl.String()}
    for frame in frames:
        assert not frame.is_empty()
        assert dict(frame.schema) == {name: types[name] for name in frame.columns}
    return pl.concat(frames).to_dicts() if frames else []


def _is_told(frame: pl.DataFrame) -> bool:
    return not {PLACE, *PLACE_NUMBERS}.isdisjoint(frame.columns)


def held(batches: Iterable[Batch]) -> list[Batch]:
    """Hold every row against the rules of its table, and return the batches."""
    kept = list(batches)
    for batch in kept:
        for table, frame in batch.rows.items():
            missing = [
                pl.lit(None, column.dtype).alias(name)
                for name, column in table.columns().items()
                if name not in frame.columns and column.nullable
            ]
            table.validate(
                frame.drop(PLACE, *PLACE_NUMBERS, strict=False).with_columns(
                    *missing, file_id=pl.lit("f")
                ),
                cast=True,
            )
    return kept


def refused(batches: Iterable[Batch]) -> list[tuple[str, str]]:
    """Return place and rule of every refused record."""
    return [(r.place, r.rule) for batch in batches for r in batch.refused]


def records(batches: Iterable[Batch]) -> int:
    return sum(batch.records for batch in batches)


def repairs(batches: Iterable[Batch]) -> int:
    return sum(batch.repairs for batch in batches)
