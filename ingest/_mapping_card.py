"""A mapping as it is written: TOML, every key known, every value of its type."""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from ingest._mapping_times import Repeated
from ingest.errors import SettingError

Word = Annotated[str, msgspec.Meta(min_length=1)]
Words = Annotated[tuple[Word, ...], msgspec.Meta(min_length=1)]
Scalar = str | int | float | bool

#: How records lie in a file.
Form = Literal["csv", "tsv", "jsonl", "json", "parquet"]


class _Strict(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A table of TOML in which an unknown key is an error."""


class Value(_Strict, frozen=True, rename={"begin": "from", "end": "to"}):
    """Where the value of a column comes from, and what it is there.

    Attributes:
        field: Field of the source; of nested JSON a path with dots.
        first: Fields of which the first that is not empty is taken.
        name: Whether the name of that field is the value, instead of its content.
        text: A text in which {field} stands for the content of a field.
        begin: Field of the start, where a length of time is the value.
        end: Field of the end.
        unit: Unit of the numbers in the source.
        since: Instant from which a time is counted, as ISO 8601.
        format: Format of time stamps, as strptime knows it, or `iso8601`.
        zone: Zone of stamps without an offset.
        repeated: Which instant a stamp is that daylight saving repeats.
        values: Values by the text in the source; `*` stands for any other text.
        default: Value where the source has none.
    """

    field: Word | None = None
    first: Words | None = None
    name: bool = False
    text: Word | None = None
    begin: Word | None = None
    end: Word | None = None
    unit: Word | None = None
    since: Word | None = None
    format: Word | None = None
    zone: Word | None = None
    repeated: Repeated | None = None
    values: dict[str, Scalar] = {}
    default: Scalar | None = None


class Where(_Strict, frozen=True):
    """Which records are meant: those whose column has, or lacks, one of some texts."""

    column: Word
    equals: Words | Word | None = None
    differs: Words | Word | None = None


class Until(_Strict, frozen=True):
    """Which record ends what another began."""

    where: Where
    by: Words


class Map(_Strict, frozen=True):
    """How the records of some files become rows of a table.

    Attributes:
        table: Table that they are for.
        columns: Field, or more about it, by the column that it fills.
        constants: Values by column, the same in every row.
        files: Patterns of file names; all that no source recognizes where empty.
        format: How records lie in the file; what it looks like where None.
        delimiter: What parts cells; what the header looks like where None.
        header: Whether the first line names the fields, or their names.
        skip: Lines before it. [1]
        comment: What a line starts with that is no record.
        null: Texts that mean that there is no value.
        zone: Zone of stamps without an offset.
        where: Records that become rows; all of them where empty.
        until: Records that end them, where start and end are two records.
    """

    table: Word
    columns: dict[Word, Word | Value] = {}
    constants: dict[Word, Scalar] = {}
    files: Words | Word | None = None
    format: Form | None = None
    delimiter: Annotated[str, msgspec.Meta(min_length=1, max_length=1)] | None = None
    header: bool | Words = True
    skip: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0
    comment: Word | None = None
    null: tuple[Word, ...] = ()
    zone: Word | None = None
    where: Where | tuple[Where, ...] = ()
    until: Until | None = None


class Card(_Strict, frozen=True):
    """The whole file."""

    map: Annotated[tuple[Map, ...], msgspec.Meta(min_length=1)]
    name: Word | None = None
    zone: Word | None = None


def decode(data: bytes, path: Path | str) -> Card:
    """Read a mapping as it is written.

    Raises:
        SettingError: If it is not TOML, or has a key or a value that it may not have.
    """
    try:
        return msgspec.toml.decode(data, type=Card)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
        message = f"{path}: not a mapping: {_one_line(error)}; correct the file"
        raise SettingError(message) from error


def is_card(data: bytes) -> bool:
    """Return whether a file that is called as a mapping is meant as one."""
    try:
        found: Any = msgspec.toml.decode(data)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        # meant or not, it is no TOML: the message of reading it says where
        return True
    return "map" in found


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
