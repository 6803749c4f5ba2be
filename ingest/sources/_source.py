"""What a raw format must offer to be ingested."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import cached_property
from typing import BinaryIO, Final, Literal

import msgspec
import polars as pl

from ingest.tables import Table

#: Options that may change the rows of a file; each source names those that do.
Option = Literal["zone", "run_id", "year", "cluster", "name"]

#: Bytes of the head of a file that recognizing may look at.
HEAD_BYTES: Final = 65_536

#: Bytes of the end of a file that recognizing may look at. [B]
TAIL_BYTES: Final = 65_536

#: Lines of the head that are looked at as objects: enough to pass over a first line
#: that is damaged.
HEAD_LINES: Final = 20

#: Characters of a refused record that are kept.
RAW_CHARACTERS: Final = 2_000


@dataclass(frozen=True)
class Head:
    """The start of a file, expanded, and the name it came with.

    Attributes:
        name: Name without folders and without the ending of an envelope.
        data: The first bytes of its content.
        columns: Names of the columns, where the file is Parquet: they are at its end.
        tail: The last bytes of its content, where it is longer than its head and in no
            envelope. They start anywhere in a line.
    """

    name: str
    data: bytes
    columns: tuple[str, ...] = ()
    tail: bytes = b""

    @cached_property
    def text(self) -> str:
        """The head as text, without a byte order mark; bad bytes are replaced."""
        return self.data.decode("utf-8-sig", errors="replace")

    @cached_property
    def objects(self) -> tuple[dict[str, object], ...]:
        """The objects of JSON among its first lines."""
        lines = self.text.split("\n", HEAD_LINES)[:HEAD_LINES]
        found = map(_object, lines)
        return tuple(one for one in found if one is not None)

    @cached_property
    def tail_text(self) -> str:
        """The whole lines of the tail as text; bad bytes are replaced."""
        return self.tail.partition(b"\n")[2].decode("utf-8", errors="replace")


def _object(line: str) -> dict[str, object] | None:
    try:
        return msgspec.json.decode(line.strip(" \t\r\0"), type=dict[str, object])
    except (msgspec.DecodeError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader is told about the file that it reads.

    Attributes:
        path: Where the file is, for messages.
        name: Its name without folders and without the ending of an envelope (.gz).
        file_id: Identity of this reading; the file_id of every row.
        zone: Zone of naive time stamps, unless the file says otherwise.
        zone_basis: Where the zone came from; `assumed` marks rows zone_assumed.
        run_id: Run for rows that do not say theirs.
        run_id_basis: Where that run came from; with `run_card` it wins over the data.
        cluster: Cluster for rows that have one.
        year: Year for time stamps without one, where the run card says it.
        modified_ns: When the file was last written. [ns]
    """

    path: str
    name: str
    file_id: str
    zone: tzinfo
    zone_basis: Literal["run_card", "option", "assumed"]
    run_id: str
    run_id_basis: Literal["run_card", "option", "folder"]
    cluster: str
    modified_ns: int
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record that cannot become a row: where it is, and the rule it breaks.

    Attributes:
        table: Table that it was meant for.
        place: Where in the file.
        rule: The rule.
        raw: The record as it was found.
        hint: What was expected, or what the record looks like, in words.
    """

    table: type[Table]
    place: str
    rule: str
    raw: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a file, by table, not yet checked against the table's rules.

    Frames may lack nullable columns and `file_id`; the writer adds them. Every frame
    may carry a `place` column (where the row is in the file), or a `line_number` or
    `row_number` instead: they are not stored, but name the row if a rule refuses it.

    Attributes:
        rows: Rows by the table they are for.
        refused: Records that could not become rows.
        records: Records of any kind seen, rows or not. [1]
        repairs: Repairs that reading needed. [1]
        zone_used: Whether a naive time stamp needed the zone.
        zones: Zones of naive time stamps that a mapping says.
    """

    rows: Mapping[type[Table], pl.DataFrame] = field(default_factory=dict)
    refused: tuple[Refusal, ...] = ()
    records: int = 0
    repairs: int = 0
    zone_used: bool = False
    zones: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Format:
    """A format that a source reads, for the list of formats.

    Attributes:
        name: Its name there.
        describes: The format in a few words.
        tables: Tables that it fills.
    """

    name: str
    describes: str
    tables: tuple[type[Table], ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A raw format: how to know it, and how to read it.

    Attributes:
        name: Name in `ingested_files` and in the dictionary.
        version: Raised when the rows of a file change; the file is then read again.
        describes: The format in a few words, for `gpuledger tables --sources`.
        tables: Tables that it fills.
        options: Options that change its rows and so belong to the file's identity.
        recognizes: Whether the head of a file is of this format.
        read: Rows in batches of bounded size. Raises UnreadableFileError where
            nothing at all can be read.
        mixed: The formats, where the files of one source mix several.
        digest: Hash of what else its rows depend on: of a mapping, what it says.
        needs: Columns or keys without which it takes no file, where it is a table, the
            most telling first: so that the source nearest to a file can be named.
    """

    name: str
    version: int
    describes: str
    tables: tuple[type[Table], ...]
    options: frozenset[Option]
    recognizes: Callable[[Head], bool]
    read: Callable[[BinaryIO, Reading], Iterator[Batch]]
    mixed: tuple[Format, ...] = ()
    digest: str | None = None
    needs: tuple[str, ...] = ()

    @property
    def formats(self) -> tuple[Format, ...]:
        """The formats that the source reads."""
        return self.mixed or (Format(self.name, self.describes, self.tables),)
