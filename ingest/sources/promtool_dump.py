"""Output of `promtool tsdb dump`: names inside the braces, milliseconds.

A dump has one series after the other, each over all of its time, so the metrics of a
GPU at one time are far apart. Each metric gets rows of its own, which name it.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.sources._prometheus.text import TABLES, read_text
from ingest.sources._source import Batch, Head, Reading, Source

_SAMPLE: Final = re.compile(
    r'^\{(?:[^\n]*, ?)?"?__name__"?="[^"\n]+"[^\n]*\} \S+ -?\d+\s*$', re.MULTILINE
)


def recognizes(head: Head) -> bool:
    """Return whether a line is a sample whose name is a label."""
    return "__name__" in head.text and _SAMPLE.search(head.text) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read samples, each line alone."""
    return read_text(stream, reading, alone=True)


SOURCE: Final = Source(
    name="promtool-dump",
    version=5,
    describes="output of promtool tsdb dump",
    tables=TABLES,
    options=frozenset({"cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
