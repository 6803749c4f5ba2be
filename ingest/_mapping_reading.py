"""A file that a mapping claims, as rows."""

from collections.abc import Iterator
from typing import BinaryIO

from ingest._mapping_cells import Cells
from ingest._mapping_claims import Shape
from ingest._mapping_csv import read_csv
from ingest._mapping_json import read_lines, read_list
from ingest._mapping_parquet import read_parquet
from ingest._mapping_plan import Plan
from ingest._mapping_rows import Rows
from ingest.errors import UnreadableFileError
from ingest.sources import Batch, Reading


def read(
    stream: BinaryIO,
    reading: Reading,
    *,
    plans: tuple[Plan, ...],
    shape: Shape,
    file: str,
) -> Iterator[Batch]:
    """Read a file as a mapping says.

    Args:
        stream: The file.
        reading: What is told about it.
        plans: What the mapping makes of it.
        shape: How records lie in it.
        file: Name of the mapping's file, for messages.

    Raises:
        UnreadableFileError: If a field is missing, or nothing can be read.
    """
    try:
        yield from Rows(plans, reading).batches(_cells(stream, reading, plans, shape))
    except UnreadableFileError as error:
        mend = f"{error.mend} (mapping in {file})"
        raise UnreadableFileError(
            error.path, error.place, error.expected, mend
        ) from error


def _cells(
    stream: BinaryIO, reading: Reading, plans: tuple[Plan, ...], shape: Shape
) -> Iterator[Cells]:
    fields = tuple(dict.fromkeys(name for plan in plans for name in plan.fields))
    needed = tuple(dict.fromkeys(name for plan in plans for name in plan.needed))
    layout, table = plans[0].layout, plans[0].table
    match shape.form:
        case "parquet":
            return read_parquet(stream, (fields, needed), layout.null, reading)
        case "jsonl":
            return read_lines(stream, fields, layout.null, table)
        case "json":
            return read_list(stream, fields, layout.null, table)
        case _:
            wanted = (fields, needed)
            return read_csv(stream, shape.delimiter, layout, wanted, reading)
