"""What the page for a provider is made of: parts, facts, and lines as found."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from reports._section import Listing

#: What stands where nothing tells.
NOT_KNOWN: Final = "not known"


@dataclass(frozen=True, slots=True)
class Quoted:
    """Lines of one file, as they were found.

    Attributes:
        facts: Its name, hash, size and source.
        lines: Where in the file each is, when it was in UTC, and the line.
        note: What is said below them.
    """

    facts: Sequence[tuple[str, str]]
    lines: Sequence[tuple[str, str, str]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the page.

    Attributes:
        name: Name of the part, unique on the page.
        title: What it is about, in some words.
        heading: What it says, in a sentence.
        paragraphs: Sentences below the heading.
        facts: Facts in two columns.
        files: Lines of raw files.
        listings: Tables.
        points: Sentences that stand for themselves.
        blanks: Names of what is left to be written in.
    """

    name: str
    title: str
    heading: str
    paragraphs: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    files: Sequence[Quoted] = ()
    listings: Sequence[Listing] = ()
    points: Sequence[str] = ()
    blanks: Sequence[str] = ()


def instant(ns: int | None) -> str:
    """Return a time to the microsecond, in UTC."""
    if ns is None:
        return NOT_KNOWN
    whole = datetime.fromtimestamp(ns // 10**9, UTC)
    return f"{whole:%Y-%m-%d %H:%M:%S}.{ns % 10**9 // 1000:06d} UTC"


def second(ns: int) -> str:
    """Return a time to the second, in UTC."""
    return f"{datetime.fromtimestamp(ns // 10**9, UTC):%Y-%m-%d %H:%M:%S} UTC"
