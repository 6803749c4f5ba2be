"""A table in a Parquet file."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from typing import IO, BinaryIO, Final

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from ingest.errors import UnreadableFileError
from ingest.phrases import phrase
from ingest.sources._source import Reading
from ingest.sources._typed.shape import NOTHING, Passed, Shape

#: What such a file starts with.
MAGIC: Final = b"PAR1"

#: Content of a file in an envelope that is kept in memory rather than on disk. [B]
SPOOL_BYTES: Final = 64 * 1024 * 1024

#: Rows read at a time: 15 columns of them are some 30 MB.
BATCH_ROWS: Final = 262_144


def read_cells(
    stream: BinaryIO, shape: Shape, reading: Reading
) -> Iterator[tuple[pl.DataFrame, Passed]]:
    """Yield known columns with `place`, `line` and `rule`, and columns passed over.

    Raises:
        UnreadableFileError: If the file is damaged, or a column is missing or has no
            type that holds the values exactly.
    """
    try:
        with _seekable(stream) as seekable:
            yield from _read(pq.ParquetFile(seekable), shape, reading)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        mend = f"copy it again ({type(error).__name__})"
        raise UnreadableFileError(
            reading.path, "footer and pages", "a whole Parquet file", mend
        ) from error


def _read(
    file: pq.ParquetFile, shape: Shape, reading: Reading
) -> Iterator[tuple[pl.DataFrame, Passed]]:
    found = file.schema_arrow.names
    passed_over = shape.check(found, reading, "schema")
    names = zip(shape.named(found), found, strict=True)
    known = {name: of for name, of in names if name in shape.types}
    _check_types(file.schema_arrow, known, shape, reading)
    first = 1
    for batch in file.iter_batches(BATCH_ROWS, columns=list(known.values())):
        batch.validate(full=True)  # text that is not UTF-8, above all
        # column by column: the metadata of a schema may be no text at all
        columns = {name: batch.column(of) for name, of in known.items()}
        frame = pl.DataFrame(columns)
        yield _cells(frame, shape, first), passed_over
        first, passed_over = first + frame.height, NOTHING


@contextmanager
def _seekable(stream: BinaryIO) -> Iterator[IO[bytes]]:
    """Give the whole file, of which the magic was read; its columns are at its end."""
    if stream.seekable():
        stream.seek(0)
        yield stream
        return
    with SpooledTemporaryFile(SPOOL_BYTES) as spool:
        spool.write(MAGIC)
        shutil.copyfileobj(stream, spool)
        spool.seek(0)
        yield spool


def _cells(frame: pl.DataFrame, shape: Shape, first: int) -> pl.DataFrame:
    texts = [
        pl.col(name).cast(pl.String)
        for name, dtype in shape.types.items()
        if name in frame.columns and dtype == pl.String
    ]
    number = pl.int_range(first, first + pl.len())
    return frame.with_columns(
        *texts,
        place=phrase("row {}", number),
        line=pl.struct(frame.columns).struct.json_encode(),
        rule=pl.lit(None, pl.String),
    )


def _check_types(
    schema: pa.Schema, known: dict[str, str], shape: Shape, reading: Reading
) -> None:
    for name, of in known.items():
        found = schema.field(of).type
        wanted, fits = _wanted(shape.types[name], found)
        if not (fits or pa.types.is_null(found)):
            place, mend = f"column {of!r}", f"found {found}; write it as {wanted}"
            raise UnreadableFileError(reading.path, place, wanted, mend)


def _wanted(dtype: pl.DataType, found: pa.DataType) -> tuple[str, bool]:
    if dtype.is_integer():
        return "int64", bool(pa.types.is_integer(found))
    text = found.value_type if pa.types.is_dictionary(found) else found
    return "string", bool(pa.types.is_string(text) or pa.types.is_large_string(text))
