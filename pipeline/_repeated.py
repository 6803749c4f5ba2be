"""Options of a command line that say the same again: read once, or it takes minutes."""

from collections.abc import Iterator, Sequence
from typing import Final

from ingest.errors import UsageError

#: Different repairs of one question: each is a simulation of the whole run.
MOST_REPAIRS: Final = 100

_FIX: Final = "--fix"


def each_fix_once(tokens: Sequence[str]) -> list[str]:
    """Return the words of a command line with each --fix once, in order.

    Args:
        tokens: What stands behind the program's name.

    Raises:
        UsageError: If the different ones are too many.
    """
    seen: set[str] = set()
    kept: list[str] = []
    for option in _options(tokens):
        value = option[0].removeprefix(f"{_FIX}=") if len(option) == 1 else option[1]
        is_fix = len(option) > 1 or option[0].startswith(f"{_FIX}=")
        if not is_fix or value not in seen:
            kept += option
        seen |= {value} if is_fix else set()
    if len(seen) > MOST_REPAIRS:
        message = (
            f"{_FIX}: {len(seen)} different repairs, and at most {MOST_REPAIRS} can be"
            " asked together"
        )
        raise UsageError(message)
    return kept


def _options(tokens: Sequence[str]) -> Iterator[list[str]]:
    """Yield each word alone, but --fix with its value."""
    words = iter(tokens)
    for word in words:
        value = next(words, None) if word == _FIX else None
        yield [word] if value is None else [word, value]
