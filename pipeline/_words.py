"""Words of a command line that begin like options and are none."""

import re
from collections.abc import Sequence
from typing import Final

#: SQL that begins with a comment: no option has a blank in it before its value.
_COMMENT: Final = re.compile(r"--(?![\w-]+=)\S*\s")

#: An option without its value.
_OPTION: Final = re.compile(r"--[a-z][a-z-]*")

#: A value below zero with a unit, such as -1d: no option begins with a digit.
_BELOW_ZERO: Final = re.compile(r"-\d\S*")


def told_apart(tokens: Sequence[str]) -> list[str]:
    """Return the words of a command line, so that none is taken for an option.

    A comment that begins a query gets a blank before it, and a value below zero is
    joined to its option.

    Args:
        tokens: What stands behind the program's name.
    """
    words: list[str] = []
    for token in tokens:
        if _BELOW_ZERO.fullmatch(token) and words and _OPTION.fullmatch(words[-1]):
            words[-1] += f"={token}"
        else:
            words.append(f" {token}" if _COMMENT.match(token) else token)
    return words
