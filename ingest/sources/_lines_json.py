"""Lines of JSON, each decoded alone."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Generic, NamedTuple, TypeVar

import msgspec
import polars as pl

from ingest.sources._lines import TRUNCATED, Block, refuse
from ingest.sources._source import Head, Refusal
from ingest.tables import Table

T = TypeVar("T")


class Record(NamedTuple, Generic[T]):
    """A line that was decoded, with its number and its bytes."""

    number: int
    line: bytes
    value: T


_BITS: Final[Mapping[pl.DataType, int]] = {pl.Int32(): 31, pl.Int64(): 63}

_FIELD = re.compile(r"`\$\.(\w+)`$")
_MISSING = re.compile(r"missing required field `(\w+)`$")


def decode(
    block: Block,
    decoder: msgspec.json.Decoder[T],
    table: type[Table],
    lines: Iterable[tuple[int, bytes]] | None = None,
) -> tuple[list[Record[T]], list[Refusal]]:
    """Decode every line of a block.

    Args:
        block: The lines.
        decoder: Says what an object has.
        table: Table that they are refused for.
        lines: Those of its lines that are wanted, with their numbers; else all.

    Returns:
        The records, and the lines that are none. A last line without its end is a
        record if it is whole.
    """
    records: list[Record[T]] = []
    refused: list[Refusal] = []
    for number, line in block.lines() if lines is None else lines:
        try:
            records.append(Record(number, line, decoder.decode(line)))
        except msgspec.ValidationError as error:
            refused.append(refuse(table, number, _rule(error), line))
        except (msgspec.DecodeError, RecursionError):
            refused.append(refuse(table, number, "json", line))
    if refused and block.cut_short:
        refused[-1:] = _mark_truncated(block, refused[-1])
    return records, refused


def kind_of(dtype: pl.DataType | None) -> Any:
    """Return what a value of a column may be in JSON: null, too.

    Args:
        dtype: Type of the column: text, whole numbers or floats; none for anything.
    """
    if dtype is None:
        return Any
    if dtype.is_integer():
        end = 2 ** _BITS[dtype]
        return Annotated[int, msgspec.Meta(ge=-end, le=end - 1)] | None
    return (float if dtype.is_float() else str) | None


def head_records(head: Head) -> Iterator[dict[str, object]]:
    """Yield the objects among the first lines of a file."""
    yield from head.objects


def _rule(error: msgspec.ValidationError) -> str:
    if missing := _MISSING.search(str(error)):
        return f"{missing[1]}|required"
    field = _FIELD.search(str(error))
    return f"{field[1]}|type" if field else "type"


def _mark_truncated(block: Block, last: Refusal) -> list[Refusal]:
    if last.place == f"line {block.last}" and last.rule == "json":
        return [Refusal(last.table, last.place, TRUNCATED, last.raw)]
    return [last]
