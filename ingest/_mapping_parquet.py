"""Rows of a Parquet file as text that keeps every digit."""

from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from ingest._mapping_cells import PLACE, RULE, Cells, column_of, content
from ingest.errors import UnreadableFileError
from ingest.phrases import phrase
from ingest.sources import Reading
from ingest.sources._whole import on_disk

#: Rows read at a time: a few columns of text of them are some 50 MB.
BATCH_ROWS: Final = 131_072

_STAMP: Final = "%Y-%m-%dT%H:%M:%S%.9f"


def read_parquet(
    stream: BinaryIO,
    wanted: tuple[Sequence[str], Sequence[str]],
    null: tuple[str, ...],
    reading: Reading,
) -> Iterator[Cells]:
    """Yield the rows of a file.

    Args:
        stream: The file, of which nothing was read.
        wanted: Fields that are read, and those of them that must be there.
        null: Texts that mean that there is no value.
        reading: What is known of the file.

    Raises:
        UnreadableFileError: If it is damaged, or a field is missing.
    """
    try:
        with on_disk(stream) as path, pq.ParquetFile(path) as file:
            yield from _read(file, wanted, null, reading)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        mend = f"copy it again ({type(error).__name__})"
        raise UnreadableFileError(
            reading.path, "footer and pages", "a whole Parquet file", mend
        ) from error


def _read(
    file: pq.ParquetFile,
    wanted: tuple[Sequence[str], Sequence[str]],
    null: tuple[str, ...],
    reading: Reading,
) -> Iterator[Cells]:
    schema = file.schema_arrow
    ways = {name: way for name in wanted[0] if (way := _way(schema, name))}
    for name in wanted[1]:
        if name not in ways:
            expected = f"a field {name!r} among {', '.join(map(ascii, schema.names))}"
            mend = "correct the mapping"
            raise UnreadableFileError(reading.path, "schema", expected, mend)
    first = 1
    tops = list(dict.fromkeys(way[0] for way in ways.values()))
    for batch in file.iter_batches(BATCH_ROWS, columns=tops or schema.names[:1]):
        batch.validate(full=True)
        frame = pl.DataFrame({name: batch.column(name) for name in tops})
        texts = {column_of(name): _text(frame, way) for name, way in ways.items()}
        missing = [name for name in wanted[0] if name not in ways]
        rows = pl.DataFrame(texts) if texts else pl.DataFrame({"": [None] * len(batch)})
        yield Cells(
            rows.select(
                phrase("row {}", pl.int_range(first, first + pl.len())).alias(PLACE),
                pl.lit(None, pl.String).alias(RULE),
                *[content(pl.col(name), null).alias(name) for name in texts],
                *[pl.lit(None, pl.String).alias(column_of(name)) for name in missing],
            )
        )
        first += len(batch)


def _way(schema: pa.Schema, name: str) -> tuple[str, ...]:
    """Return the columns that lead to a field; none where there is no such field."""
    if schema.names.count(name) == 1:
        return (name,)
    way = tuple(name.split("."))
    if schema.names.count(way[0]) != 1:
        return ()
    kind = schema.field(way[0]).type
    for part in way[1:]:
        if not pa.types.is_struct(kind) or kind.get_field_index(part) < 0:
            return ()
        kind = kind.field(part).type
    return way


def _text(frame: pl.DataFrame, way: tuple[str, ...]) -> pl.Series:
    value = frame[way[0]]
    for part in way[1:]:
        value = value.struct.field(part)
    return as_text(value)


def as_text(value: pl.Series) -> pl.Series:
    """Return values as text: stamps as ISO 8601, lengths of time in nanoseconds."""
    kind = value.dtype
    if isinstance(kind, pl.Datetime):
        if kind.time_zone:
            return value.dt.convert_time_zone("UTC").dt.strftime(f"{_STAMP}Z")
        return value.dt.strftime(_STAMP)
    if kind == pl.Duration:
        return value.dt.total_nanoseconds().cast(pl.String)
    if kind.is_nested():
        nested = value.to_frame("v").select(v=pl.struct("v").struct.json_encode())
        return nested["v"]
    return value.cast(pl.String, strict=False)
