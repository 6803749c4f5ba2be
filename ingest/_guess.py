"""The nearest guess: what a file looks like that nobody claims, and why nobody does."""

from collections.abc import Sequence
from typing import Final

from ingest import mapping
from ingest._guess_kinds import kind_of
from ingest._guess_near import nearest
from ingest.mapping import Mapping
from ingest.sources import Head

#: Names that a guess tells of a file.
_NAMES: Final = 8

#: Characters of a name that are told.
_NAME_CHARACTERS: Final = 40

#: Characters of a guess.
_CHARACTERS: Final = 400


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
    near = mapping.nearly(head, mappings) or kind.remedy or nearest(kind.names)
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
