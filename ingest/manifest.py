"""The list of live parts. To replace it is to commit, and nothing else is."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

#: What the rows of a part are. `duplicate` parts hold rows that lost to an equal key:
#: no table shows them, but they come back when the row that won leaves.
Kind = Literal["raw", "derived", "result", "rollup", "duplicate"]

#: File in the lake's folder that lists its parts.
MANIFEST: Final = "manifest.parquet"


@dataclass(frozen=True, slots=True)
class Part:
    """An immutable Parquet file with rows of one table and one day.

    Attributes:
        table: Name of the table.
        day: UTC day of its rows, as YYYY-MM-DD; None for rows without a time.
        path: Where it is under the lake's folder, with forward slashes.
        rows: Rows in it. [1]
        bytes: Size of the file. [B]
        key_min: Least value of each column of the key, as a JSON list.
        key_max: Greatest value of each column of the key, as a JSON list.
        file_ids: Files that its rows were read from, sorted.
        fingerprint: Hash of the names and types of its columns.
        kind: What its rows are.
        result_key: Hash of all that a result was computed from.
        content: What stands for its rows where they came from other parts; None where
            its path does. See ingest.identity.
        owner: Run or cluster that the rows of a rollup are of.
        key_first: Key of its first row, as a JSON list in the key's order, where its
            rows ascend and no two share a key; None where that is not known.
        key_last: Key of its last row, likewise.
    """

    table: str
    day: str | None
    path: str
    rows: int
    bytes: int
    key_min: str
    key_max: str
    file_ids: tuple[str, ...]
    fingerprint: str
    kind: Kind = "raw"
    result_key: str | None = None
    content: str | None = None
    owner: str | None = None
    key_first: str | None = None
    key_last: str | None = None

    def bounds(self, column: str) -> tuple[Any, Any]:
        """Return the least and greatest value of a column of the key; null is least.

        Of a long text they are cut, so that they may be apart where it is one value.
        """
        least, greatest = json.loads(self.key_min), json.loads(self.key_max)
        return least.get(column), greatest.get(column)


@dataclass(frozen=True, slots=True)
class Replaced:
    """A part that left the lake and is kept for those who still read it."""

    path: str
    replaced_ns: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in the lake at one moment.

    Attributes:
        generation: Commits so far.
        parts: Live parts.
        replaced: Parts that left, until they are deleted.
        retired_days: Days by table whose raw rows are gone for good.
    """

    generation: int = 0
    parts: tuple[Part, ...] = ()
    replaced: tuple[Replaced, ...] = ()
    retired_days: frozenset[tuple[str, str]] = frozenset()

    def of(self, table: str, *kinds: Kind) -> Iterator[Part]:
        """Yield the live parts of a table, of some kinds or of all."""
        for part in self.parts:
            if part.table == table and (not kinds or part.kind in kinds):
                yield part
