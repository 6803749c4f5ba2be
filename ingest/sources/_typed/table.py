"""A table in any of its files: CSV, JSON lines or Parquet."""

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from ingest.sources._lines import blocks
from ingest.sources._lines_csv import names_of
from ingest.sources._lines_json import head_records
from ingest.sources._source import Batch, Head, Reading
from ingest.sources._typed.parquet import MAGIC, read_cells
from ingest.sources._typed.rows import batch
from ingest.sources._typed.shape import Shape
from ingest.sources._typed.text import read_text


def table_fits(head: Head, fits: Callable[[Iterable[str]], bool]) -> bool:
    """Return whether the names of its columns fit, in whichever of its files."""
    if head.data.startswith(MAGIC):
        return fits(head.columns)
    return text_fits(head, fits)


def text_fits(head: Head, fits: Callable[[Iterable[str]], bool]) -> bool:
    """Return whether the names of a header, or of an object in the head, fit."""
    header = head.text.lstrip().partition("\n")[0]
    return fits(names_of(header)) or any(fits(one) for one in head_records(head))


def read_table(stream: BinaryIO, shape: Shape, reading: Reading) -> Iterator[Batch]:
    """Read a table of a shape.

    Raises:
        UnreadableFileError: If a required column is missing.
    """
    start = stream.read(len(MAGIC))
    if start != MAGIC:
        yield from read_text(blocks(stream, start), shape, reading)
        return
    for cells, passed_over in read_cells(stream, shape, reading):
        yield batch(cells, shape, reading, passed_over.refused, passed_over.columns)
