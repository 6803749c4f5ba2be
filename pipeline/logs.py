"""What is said beside the answer: on stderr, in plain lines, unwrapped."""

import sys
import unicodedata
from collections.abc import Callable

#: Something to say while working; not part of the answer.
Say = Callable[[str], None]


def say(text: str) -> None:
    """Write a line to stderr, with nothing in it that a terminal would obey."""
    stream = sys.stderr
    encoding = stream.encoding or "utf-8"
    line = harmless(text).encode(encoding, errors="backslashreplace").decode(encoding)
    stream.write(f"{line}\n")
    stream.flush()


def silence(text: str) -> None:
    """Say nothing, for --quiet."""
    del text


def one_line(text: str) -> str:
    """Return a message without line breaks, and harmless."""
    return harmless(" ".join(text.split()))


def harmless(text: str) -> str:
    """Return a text with what a terminal would obey or hide escaped."""
    return "".join(f"\\x{ord(c):02x}" if _is_unseen(c) else c for c in text)


def _is_unseen(character: str) -> bool:
    # controls, formats (which reorder text), surrogates, and ends of lines
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
