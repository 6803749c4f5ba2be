"""The nearest guess: what a file looks like that nobody claims, and why nobody does."""

from collections.abc import Iterable, Sequence
from typing import Final

from ingest import mapping
from ingest._guess_bytes import Kind
from ingest._guess_kinds import kind_of
from ingest.mapping import Mapping
from ingest.sources import SOURCES, Head
from ingest.tables import TABLES, IngestedFiles, RejectedRows, RunCards, Table

#: Names that a guess tells of a file.
_NAMES: Final = 8

#: Characters of a name that are told.
_NAME_CHARACTERS: Final = 40

#: Characters of a guess.
_CHARACTERS: Final = 400

#: Names that a file must share with a table or a source to be called near it: two may
#: meet by chance (`name`, `step`).
_SHARED: Final = 3

#: Tables that no file of somebody else fills.
_OWN: Final[tuple[type[Table], ...]] = (IngestedFiles, RejectedRows, RunCards)


def guess(head: Head, mappings: Sequence[Mapping] = ()) -> str:
    """Return what a file looks like and why nobody claims it, in one harmless line.

    Args:
        head: Start of the file.
        mappings: Mappings that applied to it.
    """
    kind = kind_of(head)
    told = f"looks like {kind.what}"
    if kind.names:
        told = f"{told} with {kind.of} {_listed(kind.names)}"
    near = mapping.nearly(head, mappings) or _nearest(kind)
    why = f"; {near}" if near else "; no source claims that" if kind.names else ""
    return shown(f"{told}{why}", _CHARACTERS)


def shown(text: str, most: int = _NAME_CHARACTERS) -> str:
    """Return a text cut to a length, on one line, with nothing unseen in it."""
    line = " ".join(text[: 4 * most].split())
    seen = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    return seen if len(seen) <= most else f"{seen[: most - 1]}…"


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(shown(name) or "''" for name in names[:_NAMES])
    more = len(names) - _NAMES
    return f"{listed} and {more} more" if more > 0 else listed


def _nearest(kind: Kind) -> str:
    """Return the source or the table whose names are most like those of a file."""
    return _of_sources(kind.names) or _of_tables(kind.names)


def _of_sources(names: Iterable[str]) -> str:
    known = set(names)
    for source in SOURCES:
        lacks = [name for name in source.needs if name not in known]
        has_first = source.needs[:1] != tuple(lacks[:1])
        if has_first and 0 < len(lacks) * 2 <= len(source.needs):
            return f"nearest: {source.name}, which also needs {', '.join(lacks)}"
    return ""


def _of_tables(names: Sequence[str]) -> str:
    known = set(names)

    def shared(table: type[Table]) -> int:
        return len(known.intersection(table.column_names()))

    near = max((t for t in TABLES if t not in _OWN), key=shared)
    if shared(near) < _SHARED or 2 * shared(near) < len(known):
        return ""
    told = f"{shared(near)} of {len(known)} are columns of {near.sql_name()}"
    lacks = [
        name
        for name, column in near.columns().items()
        if not column.nullable and name not in {*known, "file_id"}
    ]
    return f"{told}, which also needs {', '.join(lacks)}" if lacks else told
