"""What is known of the lake's files, and which of them a new file replaces."""

import hashlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple, Self

import polars as pl

from ingest._empty import EMPTY
from ingest._hashing import Hashed
from ingest._looking import Kin, Opened
from ingest._names import display, stands
from ingest._reading import UNRECOGNIZED
from ingest.mapping import PREFIX
from ingest.tables import IngestedFiles

__all__ = ["ONE_PER_RUN", "Known", "display", "index_of", "superseded"]

#: Sources of which a run has one file: an edited one takes the place of the old.
ONE_PER_RUN: Final = frozenset({"run-card", "host-map"})

#: Columns of IngestedFiles that a new file is looked up by.
_COLUMNS: Final = (
    IngestedFiles.file_id.name,
    IngestedFiles.path.name,
    IngestedFiles.sha256.name,
    IngestedFiles.source.name,
    IngestedFiles.bytes.name,
    IngestedFiles.rows_accepted.name,
    IngestedFiles.rows_rejected.name,
    IngestedFiles.rows_retired.name,
    IngestedFiles.run_id.name,
)

#: SHA-256 of no content, with which every content starts.
_NOTHING: Final = hashlib.sha256().hexdigest()

Row = dict[str, Any]


class Sizes(NamedTuple):
    """Sizes of files of one source and run, as they are looked up. [B]"""

    each: frozenset[int]
    ordered: list[int]

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Self:
        """Return the sizes of files that gave rows."""
        # a log whose days have been retired grows as any other
        gave = (r["bytes"] for r in rows if r["rows_accepted"] + r["rows_retired"])
        return cls(each := frozenset(gave), sorted(each))


def _lists() -> defaultdict[Any, list[Row]]:
    return defaultdict(list)


@dataclass(slots=True)
class Known:
    """Files of the lake, by what a new file may have in common with them.

    Attributes:
        ids: Identities of all of them.
        fruitless: Identities of those of which every row was refused.
        by_content: Rows by SHA-256.
        by_kin: Rows by source and run.
        by_path: Rows by path.
    """

    ids: set[str] = field(default_factory=set)
    fruitless: set[str] = field(default_factory=set)
    by_content: defaultdict[str, list[Row]] = field(default_factory=_lists)
    by_kin: defaultdict[Kin, list[Row]] = field(default_factory=_lists)
    by_path: defaultdict[str, list[Row]] = field(default_factory=_lists)
    _sizes: dict[Kin, Sizes] = field(default_factory=dict)

    def may_have(self, file: Opened) -> bool:
        """Tell whether a file of the lake may have the content of this one.

        A file whose size is not known until it is expanded is taken for a new one.
        """
        is_here = file.size in self._sizes_here(file)
        is_known = is_here or file.size in self._sizes_of(file.kin).each
        return file.is_sized and is_known

    def sizes_of(self, file: Opened) -> set[int]:
        """Sizes of files that this one may have grown from. [B]

        Those at its path count without rows too: what nobody recognized while it was
        short may be recognized now.
        """
        sizes = self._sizes_of(file.kin).ordered
        less = bisect_left(sizes, file.size) if file.is_sized else len(sizes)
        return self._sizes_here(file).union(sizes[:less])

    def _sizes_here(self, file: Opened) -> set[int]:
        return {row["bytes"] for row in self.by_path.get(file.path, ())}

    def _sizes_of(self, kin: Kin) -> Sizes:
        if kin not in self._sizes:
            self._sizes[kin] = Sizes.of(self.by_kin[kin])
        return self._sizes[kin]


def index_of(known: pl.DataFrame) -> Known:
    """Return the rows of IngestedFiles, by what a new file is looked up by."""
    index = Known()
    for row in known.select(_COLUMNS).iter_rows(named=True):
        index.ids.add(row["file_id"])
        gave = row["rows_accepted"] + row["rows_retired"]
        if gave == 0 and row["rows_rejected"] > 0:
            index.fruitless.add(row["file_id"])
        index.by_content[row["sha256"]].append(row)
        index.by_kin[row["source"], row["run_id"]].append(row)
        index.by_path[row["path"]].append(row)
    return index


def superseded(file: Hashed, lake: Known, found: Collection[str]) -> set[str]:
    """Files whose rows leave when this one's come.

    Those that it is a grown copy of, whoever claimed them at its path while they were
    short, those with its content read with other options, and of a run card those of
    the same run or at its path. Rows of another run leave only if their file is not
    found again as it was.

    Args:
        file: The file that comes.
        lake: Files of the lake.
        found: Identities of all files of this ingest.
    """
    taken = {
        row["file_id"]
        for rows in (_grown, _outgrown, _same, _rivals)
        for row in rows(file, lake)
    }
    return taken.difference(found) | {
        row["file_id"]
        for row in _grown(file, lake)
        if row["run_id"] == file.opened.file.run_id
    }


def _grown(file: Hashed, lake: Known) -> Iterator[Row]:
    family, run_id = file.opened.kin
    if file.opened.source is None:
        return
    for sha256 in file.print_.prefixes:
        for row in lake.by_content.get(sha256, ()):
            here = row["path"] == file.opened.path
            mine = here or (row["run_id"] == run_id and _is_named(row, file.opened))
            if mine and row["source"] == family:
                yield row


def _is_named(row: Row, opened: Opened) -> bool:
    """Whether a file of the lake has what the name of another tells its source."""
    name = PurePosixPath(row["path"]).name
    return not opened.says or name == opened.says or name.startswith(f"{opened.says}.")


def _outgrown(file: Hashed, lake: Known) -> Iterator[Row]:
    starts = {_NOTHING, *file.print_.prefixes}
    for row in lake.by_path[file.opened.path]:
        # a file that nobody claims takes no rows away
        may = file.opened.source or row["source"] == UNRECOGNIZED
        if row["source"] == EMPTY.name or (may and row["sha256"] in starts):
            yield row


def _same(file: Hashed, lake: Known) -> Iterator[Row]:
    # what nobody claimed before is of the family of whoever claims it now
    families = {file.opened.family, UNRECOGNIZED}
    for row in lake.by_content.get(file.print_.sha256, ()):
        here = row["path"] == file.opened.path
        is_kin = row["source"] in families or _is_mapped(file, row)
        if is_kin and (here or not stands(row["path"])):
            yield row


def _is_mapped(file: Hashed, row: Row) -> bool:
    # a mapping may come, go or change its name, and the file stays what it is
    names = (file.opened.family, row["source"])
    is_claimed = file.opened.source is not None
    return is_claimed and any(name.startswith(PREFIX) for name in names)


def _rivals(file: Hashed, lake: Known) -> Iterator[Row]:
    opened = file.opened
    if opened.family not in ONE_PER_RUN:
        return
    yield from lake.by_kin[opened.kin]
    for row in lake.by_path[opened.path]:
        if row["source"] == opened.family:
            yield row
