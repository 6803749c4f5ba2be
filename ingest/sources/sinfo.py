"""Nodes that failed, as sinfo lists them: sinfo, sinfo -R, sinfo -N --long, --format.

Any fields in any order, with a delimiter or aligned by blanks, under the header that
sinfo writes; a listing without one is not known for what it is. Only a time stamp
(%H; sinfo -R has it) tells since when: without one a row has no time.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO, Final

from ingest.sources._lines_frames import line_frames
from ingest.sources._slurm.listing import (
    Listing,
    cells_of,
    has_header,
    with_header,
)
from ingest.sources._slurm.nodes import node_batch
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import Failures

#: Columns that are read, and their names in headers.
_WANTED: Final = {
    "Nodes": ("NODELIST", "HOSTNAMES"),
    "State": ("STATE", "STATECOMPACT", "STATELONG"),
    "Reason": ("REASON",),
    "Since": ("TIMESTAMP",),
}


def _is_sinfo(listing: Listing) -> bool:
    names = set(listing.names)
    tells = not names.isdisjoint({"STATE", "REASON"})
    return tells and not names.isdisjoint(_WANTED["Nodes"]) and "JOBID" not in names


def recognizes(head: Head) -> bool:
    """Return whether a header of sinfo's is among the first lines."""
    return has_header(head, _is_sinfo)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the nodes of a listing."""
    for listing, lines in with_header(line_frames(stream, Failures), _is_sinfo):
        if listing is None:
            yield lines.counted()
            continue
        nodes, refused = cells_of(lines, listing, _WANTED, Failures)
        yield replace(lines.counted(), refused=(*lines.refused, *refused))
        yield node_batch(nodes, reading)


SOURCE: Final = Source(
    name="sinfo",
    version=2,
    describes="nodes of Slurm that are down, drained or failing: sinfo with its header",
    tables=(Failures,),
    options=frozenset({"zone", "cluster"}),
    recognizes=recognizes,
    read=read,
)
