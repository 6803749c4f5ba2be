"""Rows of a Parquet file as text that keeps every digit."""

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, Final

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from ingest._mapping_arrow import UnfitColumnError, column_text
from ingest._mapping_cells import PLACE, RULE, Cells, column_of, content
from ingest.errors import UnreadableFileError
from ingest.phrases import phrase
from ingest.sources import Reading
from ingest.sources._whole import on_disk

#: Rows read at a time: a few columns of text of them are some 50 MB.
BATCH_ROWS: Final = 131_072


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
        with on_disk(stream) as path, pq.ParquetFile(path, pre_buffer=False) as file:
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
        texts, repairs = _texts(batch, ways, reading)
        missing = [name for name in wanted[0] if name not in ways]
        rows = pl.DataFrame(texts) if texts else pl.DataFrame({"": [None] * len(batch)})
        yield Cells(
            rows.select(
                phrase("row {}", pl.int_range(first, first + pl.len())).alias(PLACE),
                pl.lit(None, pl.String).alias(RULE),
                *[content(pl.col(name), null).alias(name) for name in texts],
                *[pl.lit(None, pl.String).alias(column_of(name)) for name in missing],
            ),
            repairs=repairs,
        )
        first += len(batch)


def _texts(
    batch: pa.RecordBatch, ways: Mapping[str, tuple[str, ...]], reading: Reading
) -> tuple[dict[str, pl.Series], int]:
    """Return fields as text, and how many values were repaired."""
    texts, repairs = {}, 0
    for name, (top, *parts) in ways.items():
        kind, way = batch.schema.field(top).type, []
        for part in parts:
            way.append(kind.get_field_index(part))
            kind = kind.field(part).type
        try:
            text, broken = column_text(batch.column(top), tuple(way))
        except UnfitColumnError as error:
            place = f"column {name!a}"
            mend = f"write it as another type than {kind}"
            expected = "values that have a text"
            raise UnreadableFileError(reading.path, place, expected, mend) from error
        texts[column_of(name)] = text
        repairs += broken
    return texts, repairs


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
