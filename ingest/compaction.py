"""Many small parts of a table and day become few, in one commit each.

The rows stay, each with the file that it came from, and so does the identity of the
parts: no result is computed anew. Readers of the old parts are not disturbed, since
parts that have left the lake are kept for their grace time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ingest import _manifest_file
from ingest._long_parts import write_long
from ingest._merging import WINDOW_ROWS, merged
from ingest.errors import LakeError
from ingest.identity import conserve
from ingest.lake import Writer
from ingest.manifest import Part
from ingest.tables import Table

#: Rows of a part: few enough for one to be read at once, enough for a day of 16,384
#: GPUs to be some fifteen parts. [1]
PART_ROWS: Final = 16_000_000

#: What parts may have of that and be merged: larger ones gain nothing by it.
_SMALL: Final = 0.5


@dataclass(frozen=True, slots=True)
class Sizes:
    """Rows of parts, and rows that are sorted at a time. [1]"""

    part: int = PART_ROWS
    window: int = WINDOW_ROWS


#: Sizes that suit a node with two cores and 4 GiB.
SIZES: Final = Sizes()


@dataclass(frozen=True, slots=True)
class Merge:
    """Parts of a table and day that become fewer.

    Attributes:
        table: Their table.
        parts: The parts.
    """

    table: type[Table]
    parts: tuple[Part, ...]

    @property
    def day(self) -> str | None:
        """UTC day of the rows, as YYYY-MM-DD; None for rows without a time."""
        return self.parts[0].day

    @property
    def rows(self) -> int:
        """Rows of the parts. [1]"""
        return sum(part.rows for part in self.parts)


def merges(
    root: Path, tables: Iterable[type[Table]], sizes: Sizes = SIZES
) -> Iterator[Merge]:
    """Yield what there is to merge, in the order of tables and days.

    Raises:
        LakeError: If the manifest is damaged.
    """
    live = _manifest_file.load(root).parts
    by_name = {table.sql_name(): table for table in tables}
    groups: dict[tuple[str, ...], list[Part]] = {}
    for part in live:
        if part.table in by_name and part.rows < sizes.part * _SMALL:
            groups.setdefault(_group(part), []).append(part)
    for name, table in by_name.items():
        for group, parts in sorted(groups.items()):
            found = Merge(table, tuple(sorted(parts, key=lambda part: part.path)))
            if group[0] == name and len(parts) > 1 and found.rows:
                yield found


def _group(part: Part) -> tuple[str, ...]:
    """What parts share that may be one: a part has one day, kind, result and owner."""
    told = (part.table, part.day, part.kind, part.result_key, part.owner)
    return tuple(one or "" for one in told)


def merge(writer: Writer, wanted: Merge, sizes: Sizes = SIZES) -> list[Part]:
    """Merge parts, in one commit.

    Args:
        writer: The lake, locked.
        wanted: What is merged.
        sizes: Sizes of what is written and held.

    Returns:
        The parts that came.

    Raises:
        LakeError: If a part is damaged.
        OSError: If there is no room for the rows a second time.
    """
    old, table = wanted.parts, wanted.table
    count = -(-wanted.rows // sizes.part)
    frames = merged(writer.root, table, old, sizes.window)
    new = write_long(writer.root, table, old[0], frames, -(-wanted.rows // count))
    _refuse_lost(writer.root, wanted, new)
    with writer.drafting() as draft:
        for part in old:
            draft.drop(part)
        draft.add(conserve(old, new))
    return new


def _refuse_lost(root: Path, wanted: Merge, new: Sequence[Part]) -> None:
    rows = sum(part.rows for part in new)
    if rows != wanted.rows:
        message = (
            f"{root}: {wanted.table.sql_name()} of {wanted.day or 'no day'}: expected"
            f" {wanted.rows} rows to merge, found {rows}; restore its parts from a"
            " backup, or ingest everything into a new folder"
        )
        raise LakeError(message)
