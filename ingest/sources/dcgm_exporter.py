"""Text of the dcgm-exporter (Prometheus exposition 0.0.4), one scrape or many.

* It is known by its series; whatever else is in the text (a node's other exporters, a
  federation) is read, too. How lines, times and repeated series are read is told where
  every text format is read.
* The time of a file without time stamps is not part of its content: the same content
  met again later is the same file, and stays as it was first read.
* The gauge of Xid errors keeps the last one for ever; it makes no failure. Nor do the
  counts of the exporter itself (DCGM_EXP_XID_ERRORS_COUNT): they count within a sliding
  window, so that one error is in many scrapes, and a count that falls is no event.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.sources._prometheus.text import TABLES, read_text
from ingest.sources._source import Batch, Head, Reading, Source

_SERIES: Final = re.compile(r"^(?:DCGM_FI_|DCGM_EXP_|dcgm_)\w+\{", re.MULTILINE)


def recognizes(head: Head) -> bool:
    """Return whether a line is a series of DCGM."""
    may = "DCGM_" in head.text or "dcgm_" in head.text
    return may and _SERIES.search(head.text) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read scrapes, each line alone."""
    return read_text(stream, reading)


SOURCE: Final = Source(
    name="dcgm-exporter",
    version=6,
    describes="text of the dcgm-exporter, one scrape or many with time stamps",
    tables=TABLES,
    options=frozenset({"cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
