"""Codes of failures as people say them: no name of a column, no name of a source."""

from typing import Final

from ingest.xids import UNKNOWN_NAME
from reports._words import name, said

#: Families whose codes are known to people by their number.
_NUMBERED: Final = {"xid": "Xid", "sxid": "SXid"}

#: Whose clock told the time of a failure, by the family of its code.
_CLOCKS: Final = {
    "application": "the clock of the node that wrote the job's log",
    "health": "the clock of the tool that watched the node",
    "scheduler": "the scheduler's clock",
    "operator": "that of whoever kept the list of interruptions",
    "other": "that of the source that told of it",
}

#: Longest meaning of a code that stands beside others.
MEANING_LIMIT: Final = 60


def code(source: str, found: str, meaning: str | None) -> str:
    """Return a code without its meaning: `Xid 79`, or what people wrote down.

    Args:
        source: Family of the code.
        found: The code.
        meaning: Its meaning, None where nothing says.
    """
    if source in _NUMBERED:
        return f"{_NUMBERED[source]} {name(found)}"
    if source == "operator" and meaning:
        return name(meaning, MEANING_LIMIT)
    return name(said(found), MEANING_LIMIT)


def with_meaning(source: str, found: str, meaning: str | None) -> str:
    """Return a code and its meaning, where it has one that says more.

    Args:
        source: Family of the code.
        found: The code.
        meaning: Its meaning, None where nothing says.
    """
    told = code(source, found, meaning)
    if not meaning or meaning == UNKNOWN_NAME or _bare(meaning) == _bare(told):
        return told
    if source in _NUMBERED:
        return f"{told}, {name(meaning, MEANING_LIMIT)}"
    if source == "other":  # its name is the class of the code
        return f"{name(meaning, MEANING_LIMIT)}: {told}"
    return name(meaning, MEANING_LIMIT)


def clock(source: str) -> str:
    """Say whose clock told of a failure.

    Args:
        source: Family of the code.
    """
    return _CLOCKS.get(source, "the node's own")


def _bare(text: str) -> str:
    return text.casefold().replace("_", " ").strip()
