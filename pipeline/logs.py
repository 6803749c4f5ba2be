"""What is said beside the answer: on stderr, in plain lines, unwrapped."""

import sys
from collections.abc import Callable

#: Something to say while working; not part of the answer.
Say = Callable[[str], None]


def say(text: str) -> None:
    """Write a line to stderr; what cannot be encoded is escaped."""
    stream = sys.stderr
    encoding = stream.encoding or "utf-8"
    line = text.encode(encoding, errors="backslashreplace").decode(encoding)
    stream.write(f"{line}\n")
    stream.flush()


def silence(text: str) -> None:
    """Say nothing, for --quiet."""
    del text


def one_line(text: str) -> str:
    """Return a message without line breaks or control characters of a terminal."""
    words = " ".join(text.split())
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in words)
