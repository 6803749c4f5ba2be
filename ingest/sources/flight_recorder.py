"""Dumps of PyTorch's Flight Recorder: a pickle or a JSON document of one rank each.

`<prefix><rank>`, written when a collective times out or on demand (PyTorch,
torch/csrc/distributed/c10d/FlightRecorder*): the last collectives that the rank asked
for, and how far it got in each of its groups.

* A pickle is a program: only operations of plain data are loaded, and a pickle that
  asks for anything else is refused by the name of what it asks for. Nothing of it runs.
* Versions are compared as numbers; what a dump holds is told by its keys.
* A group is known by its name and members, as in traces: numbers of groups and of
  entries are a rank's own. A group without an entry is found by the order of names.
* The rank is in no field. It is in all its groups, and comes first in its sends and
  receives; where that leaves several, the name of the file decides.
* An entry that has not started has no start: when it was asked for is `enqueue_ns`.
* The dumps of one hang are files of their own, so each has a `dump_id` of its own. They
  meet by group and by `time_ns`, which is null of a rank whose buffer is empty.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.errors import UnreadableFileError
from ingest.sources._flight.document import MOST_BYTES, document_of
from ingest.sources._flight.entries import read_entries
from ingest.sources._flight.groups import groups_of, rank_of
from ingest.sources._flight.pickle_scan import Fault
from ingest.sources._flight.status import read_statuses
from ingest.sources._source import Batch, Head, Reading, Refusal, Source
from ingest.tables import Collectives, GroupStatus

#: How a pickle begins: with its version from 2 on, before that with what it imports.
_PICKLE: Final = re.compile(
    rb"\x80[\x02-\x05]|c[\w.]+\n[\w.]+\n|\(.{0,400}\ni\w+\n", re.DOTALL
)

#: Keys of an entry that nothing else has together.
_ENTRY: Final = ('"profiling_name"', '"time_created_ns"')

_STATUS: Final = ('"pg_config"', '"pg_status"')

#: Bytes of a refused document that are shown. [B]
_SHOWN: Final = 200


def recognizes(head: Head) -> bool:
    """Return whether a file is a pickle, or a document with the keys of a dump."""
    if _PICKLE.match(head.data):
        return True
    text = head.text.lstrip()
    if not text.startswith("{") or '"traceEvents"' in text:
        return False
    return any(all(key in text for key in keys) for keys in (_ENTRY, _STATUS))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a dump.

    Raises:
        UnreadableFileError: If it is too large to be one.
    """
    data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        expected = f"a dump of at most {MOST_BYTES} bytes"
        mend = "a larger pickle or document is no Flight Recorder dump"
        raise UnreadableFileError(reading.path, "file", expected, mend)
    document = document_of(data)
    if isinstance(document, Fault):
        raw = repr(data[:_SHOWN])
        place = f"byte {document.position}"
        refusal = Refusal(GroupStatus, place, document.rule, raw, document.hint)
        yield Batch(refused=(refusal,), records=1)
        return
    groups = groups_of(document)
    rank = rank_of(document, groups, reading.name)
    if rank is None:
        yield _without_rank(reading)
        return
    yield Batch(repairs=document.repairs)
    yield read_statuses(document, groups, rank, reading)
    yield from read_entries(document, groups, rank, reading)


def _without_rank(reading: Reading) -> Batch:
    hint = (
        "the groups leave the rank open, and the name of the file does not end in it:"
        " name the file as PyTorch does, nccl_trace_rank_3"
    )
    refusal = Refusal(GroupStatus, "file", "rank|required", reading.name, hint)
    return Batch(refused=(refusal,), records=1)


SOURCE: Final = Source(
    name="flight-recorder",
    version=2,
    describes="dumps of PyTorch's Flight Recorder, pickled or JSON, one file per rank",
    tables=(Collectives, GroupStatus),
    options=frozenset({"run_id", "name"}),
    recognizes=recognizes,
    read=read,
)
