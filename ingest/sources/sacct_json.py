"""Jobs and nodes in Slurm's JSON: sacct, squeue, scontrol and sinfo with --json.

The answers of slurmrestd have the same shape. Every schema is read; only the fields
that make rows are decoded, job by job, so that the length of a document does not
matter. The steps inside a job are no rows.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import msgspec
import polars as pl

from ingest.sources._json_elements import Element, Elements
from ingest.sources._slurm.jobs import count_restarts, job_rows
from ingest.sources._slurm.json import Job, job_fields
from ingest.sources._slurm.json_nodes import Entry, Node, node_fields
from ingest.sources._slurm.nodes import FIELDS, node_batch
from ingest.sources._source import RAW_CHARACTERS, Batch, Head, Reading, Refusal, Source
from ingest.sources._utf8 import is_utf8
from ingest.tables import Failures, Jobs, Table

#: Objects decoded at a time: their bytes are in memory.
BATCH_OBJECTS: Final = 1_000

#: What is in a list of the document, by its key.
_KINDS: Final[dict[str, type[Job | Node | Entry]]] = {
    "jobs": Job,
    "nodes": Node,
    "sinfo": Entry,
}

#: Keys that only Slurm writes: all of one of these sets.
_TELLING: Final = (
    ('"job_id"', '"job_state"'),
    ('"job_id"', '"allocation_nodes"'),
    ('"reason_changed_at"',),
    ('"data_parser"',),
    ('"Slurm OpenAPI',),
)
_LISTS: Final = re.compile(r'"(?:jobs|nodes|sinfo)"\s*:\s*\[')


def recognizes(head: Head) -> bool:
    """Return whether the head is a document of Slurm's with a list of ours."""
    text = head.text
    is_ours = text.lstrip().startswith("{") and _LISTS.search(text) is not None
    return is_ours and any(all(key in text for key in keys) for keys in _TELLING)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the jobs and the nodes of a document."""
    elements = Elements(stream)
    found = _Found()
    waiting: list[pl.DataFrame] = []
    for element in elements:
        if element.name in _KINDS:
            found.take(element)
        else:
            found.repairs += not is_utf8(element.data)
        if found.records >= BATCH_OBJECTS:
            yield from _batches(found, waiting, reading)
            found = _Found()
    found.repairs += elements.repairs
    yield from _batches(found, waiting, reading)
    if any(len(rows) for rows in waiting):
        yield Batch({Jobs: count_restarts(pl.concat(waiting))})
    if elements.cut_short:
        hint = "a document whose brackets are all closed"
        yield Batch(refused=(Refusal(Jobs, "end", "truncated", "", hint),), records=1)


def _batches(
    found: "_Found", waiting: list[pl.DataFrame], reading: Reading
) -> Iterator[Batch]:
    """Yield rows; those of jobs that do not tell of restarts wait for the others."""
    jobs = job_rows(found.jobs(), reading)
    if found.counted:
        yield jobs.batch(0)
    else:
        waiting.append(jobs.rows)
        yield Batch(refused=jobs.refused, zone_used=jobs.zone_used)
    yield node_batch(found.nodes(), reading)
    yield Batch(
        refused=tuple(found.refused), records=found.records, repairs=found.repairs
    )


class _Found:
    """What some objects of a document tell."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._jobs: list[dict[str, str | None]] = []
        self._nodes: list[dict[str, str | None]] = []
        self.refused: list[Refusal] = []
        self.records = self.repairs = 0
        self.counted = True

    def take(self, element: Element) -> None:
        """Take an object as it stands in the document."""
        self.records += 1
        text = element.data.decode("utf-8", errors="replace").encode()
        self.repairs += text != element.data
        try:
            one = msgspec.json.decode(text, type=_KINDS[element.name])
        except (msgspec.DecodeError, RecursionError) as error:
            is_type = isinstance(error, msgspec.ValidationError)
            self._refuse(
                element, element.rule or ("type" if is_type else "json"), str(error)
            )
        else:
            self._keep(element, one)

    def _keep(self, element: Element, one: Job | Node | Entry) -> None:
        raw = element.data[: 4 * RAW_CHARACTERS].decode("utf-8", errors="replace")
        where: dict[str, str | None] = {
            "place": f"entry {element.number}",
            "raw": raw[:RAW_CHARACTERS],
        }
        if isinstance(one, Job):
            fields = job_fields(one)
            self.counted &= fields["Restarts"] is not None
            self._jobs.append(where | fields)
        else:
            self._nodes.append(where | node_fields(one))

    def _refuse(self, element: Element, rule: str, error: str) -> None:
        table: type[Table] = Jobs if element.name == "jobs" else Failures
        raw = element.data[: 4 * RAW_CHARACTERS].decode("utf-8", errors="replace")
        hint = f"{error}, counted from byte {element.offset}"
        place = f"entry {element.number}"
        self.refused.append(Refusal(table, place, rule, raw[:RAW_CHARACTERS], hint))

    def jobs(self) -> pl.DataFrame:
        """Return the fields of the jobs."""
        names = ["place", "raw", *job_fields(Job())]
        return pl.DataFrame(self._jobs, schema=dict.fromkeys(names, pl.String))

    def nodes(self) -> pl.DataFrame:
        """Return the fields of the nodes."""
        names = ["place", "raw", *FIELDS]
        return pl.DataFrame(self._nodes, schema=dict.fromkeys(names, pl.String))


SOURCE: Final = Source(
    name="sacct-json",
    version=4,
    describes="jobs and nodes of Slurm as JSON: sacct, squeue, scontrol, sinfo --json",
    tables=(Jobs, Failures),
    options=frozenset({"zone", "run_id", "cluster"}),
    recognizes=recognizes,
    read=read,
)
