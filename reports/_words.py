"""Words from data made fit to be read: no control characters, no endless names."""

import unicodedata
from collections.abc import Sequence
from typing import Final

from reports._numbers import grouped

#: Length that a name is cut to: a host with its domain still fits.
NAME_LIMIT: Final = 60

#: Abbreviations among the words of identifiers.
_ABBREVIATIONS: Final = {"gpu": "GPU", "nic": "NIC", "xid": "Xid", "sxid": "SXid"}

#: Categories of characters that draw nothing, or reorder what is drawn.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

#: Characters that draw nothing and are meant.
_KEPT: Final = "\n\N{FIRST STRONG ISOLATE}\N{POP DIRECTIONAL ISOLATE}"

#: Stands where a character was that draws nothing.
_REPLACED: Final = "\N{REPLACEMENT CHARACTER}"

#: Classes of characters that run from right to left.
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})


def is_visible(character: str) -> bool:
    """Whether a character draws something and leaves the order of others alone."""
    return unicodedata.category(character) not in _INVISIBLE


def name(found: str | None, limit: int = NAME_LIMIT) -> str:
    """Return a name from data, cut in its middle, with what is invisible replaced.

    Args:
        found: The name as it was found; None is shown as a dash.
        limit: Most characters kept.
    """
    if found is None:
        return "\N{EN DASH}"
    kept = found if len(found) <= limit else _cut(found, limit)
    seen = "".join(c if is_visible(c) else _REPLACED for c in kept)
    if any(unicodedata.bidirectional(c) in _RIGHT_TO_LEFT for c in seen):
        return f"\N{FIRST STRONG ISOLATE}{seen}\N{POP DIRECTIONAL ISOLATE}"
    return seen


def visible(text: str) -> str:
    """Return a text in which no character hides or reorders others.

    Line breaks stay, and the marks by which `name` sets apart what runs from right to
    left: they end where they begin.

    Args:
        text: Text that may hold names which did not go through `name`.
    """
    return "".join(c if is_visible(c) or c in _KEPT else _REPLACED for c in text)


def _cut(found: str, limit: int) -> str:
    tail = limit // 3
    return f"{found[: limit - tail - 1]}\N{HORIZONTAL ELLIPSIS}{found[-tail:]}"


def plural(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun."""
    return f"{grouped(count)} {one if count == 1 else many or one + 's'}"


def listed(words: Sequence[str], limit: int = 3) -> str:
    """Return words as a person lists them, the rest as a count."""
    if len(words) > limit:
        return f"{', '.join(words[:limit])} and {len(words) - limit} more"
    if len(words) > 1:
        return f"{', '.join(words[:-1])} and {words[-1]}"
    return "".join(words)


def said(identifier: str) -> str:
    """Return an identifier of ours as words, abbreviations as they are written.

    Args:
        identifier: Words joined by underscores.
    """
    words = identifier.replace("_", " ").split(" ")
    return " ".join(_ABBREVIATIONS.get(word, word) for word in words)
