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
from ingest.sources._source import Reading
from ingest.sources._typed.shape import NOTHING, Passed, Shape

#: What such a file starts with.
MAGIC: Final = b"PAR1"

#: Content of a file in an envelope that is kept in memory rather than on disk. [B]
SPOOL_BYTES: Final = 64 * 1024 * 1024

#: Rows read at a time: 15 columns of them are some 100 MB.
BATCH_ROWS: Final = 1_000_000

#: Bytes of a column that are read at a time: row groups may be of any size. [B]
BUFFER_BYTES: Final = 1 << 20


def read_cells(
    stream: BinaryIO, shape: Shape, reading: Reading
) -> Iterator[tuple[pl.DataFrame, Passed]]:
    """Yield known columns with their `row_number`, and columns passed over.

    Raises:
        UnreadableFileError: If the file is damaged, or a column is missing or has no
            type that holds the values exactly.
    """
    try:
        with _seekable(stream) as seekable:
            yield from _read(seekable, shape, reading)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        mend = f"copy it again ({type(error).__name__})"
        raise UnreadableFileError(
            reading.path, "footer and pages", "a whole Parquet file", mend
        ) from error


def _read(
    stream: IO[bytes], shape: Shape, reading: Reading
) -> Iterator[tuple[pl.DataFrame, Passed]]:
    schema = pq.ParquetFile(stream).schema_arrow
    found = schema.names
    passed_over = shape.check(found, reading, "schema")
    names = zip(shape.named(found), found, strict=True)
    known = {name: of for name, of in names if name in shape.types}
    _check_types(schema, known, shape, reading)
    texts = [of for name, of in known.items() if shape.types[name] == pl.String]
    # what is buffered before it is asked for would be kept until the end of the file
    file = pq.ParquetFile(
        stream, read_dictionary=texts, buffer_size=BUFFER_BYTES, pre_buffer=False
    )
    first = 1
    for batch in file.iter_batches(BATCH_ROWS, columns=list(known.values())):
        batch.validate(full=True)  # text that is not UTF-8, above all
        # column by column: the metadata of a schema may be no text at all
        columns = {name: batch.column(of) for name, of in known.items()}
        yield _cells(columns, shape, first), passed_over
        first, passed_over = first + batch.num_rows, NOTHING


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


def _cells(columns: dict[str, pa.Array], shape: Shape, first: int) -> pl.DataFrame:
    """Return columns as Polars has them, with the number of each row.

    A text that all rows share is a literal, which takes no memory.
    """
    shared = {name: column for name, column in columns.items() if _is_shared(column)}
    frame = pl.DataFrame({n: c for n, c in columns.items() if n not in shared})
    number = pl.int_range(first, first + len(next(iter(columns.values()))), eager=True)
    texts = [
        pl.col(name).cast(pl.String)
        for name, dtype in shape.types.items()
        if name in frame.columns and dtype == pl.String
    ]
    literals = [
        pl.lit(column.dictionary[0].as_py(), pl.String).alias(name)
        for name, column in shared.items()
    ]
    numbered = frame.with_columns(number.alias("row_number"), *texts)
    return numbered.with_columns(literals).select(*columns, "row_number")


def _is_shared(column: pa.Array) -> bool:
    is_dictionary = pa.types.is_dictionary(column.type)
    return is_dictionary and len(column.dictionary) == 1 and not column.null_count


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
    if dtype.is_float():
        is_number = pa.types.is_floating(found) or pa.types.is_integer(found)
        return "double", bool(is_number)
    text = found.value_type if pa.types.is_dictionary(found) else found
    return "string", bool(pa.types.is_string(text) or pa.types.is_large_string(text))
