"""How far a rank got in each of its groups, from `pg_status` of a dump."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from ingest.communication import parallel_kind
from ingest.sources._flight_document import Document
from ingest.sources._flight_groups import Group, name_of
from ingest.sources._flight_numbers import numbered
from ingest.sources._flight_values import integer_of, shown, time_of
from ingest.sources._kineto_rows import trace_id
from ingest.sources._source import Batch, Reading, Refusal
from ingest.tables import GroupStatus

#: What a number of a collective is where there was none.
_NONE = -1

_TIMES = (
    "time_created_ns",
    "time_discovered_started_ns",
    "time_discovered_completed_ns",
)


def read_statuses(
    document: Document, groups: Mapping[str, Group], rank: int, reading: Reading
) -> Batch:
    """Return the rows of a dump's groups.

    Args:
        document: The dump.
        groups: Its groups by name.
        rank: Global rank that wrote it.
        reading: The file.
    """
    seen = Counter(name_of(entry)[0] for entry in document.entries)
    by_number = numbered(document, groups)
    rows: list[dict[str, Any]] = []
    refused: list[Refusal] = []
    for key, status in document.statuses.items():
        number = integer_of(key)
        group = by_number.get(number) if number is not None else None
        if group is None or not isinstance(status, dict):
            rule = "group_id|required" if group is None else "status|type"
            place, raw = f"group {shown(key)}", shown({key: status})
            hint = "no entry and no order of names tells the group of this number"
            refused.append(
                Refusal(GroupStatus, place, rule, raw, None if group else hint)
            )
            continue
        counted = {"entries_seen": seen[group.name], "place": f"group {number}"}
        rows.append(_facts(group) | _numbers(status) | counted)
    if not rows:
        return Batch(refused=tuple(refused), records=len(document.statuses))
    common = {
        "run_id": pl.lit(reading.run_id),
        "dump_id": pl.lit(trace_id(reading)),
        "time_ns": pl.lit(_latest(document), pl.Int64),
        "time_quality": pl.lit("exact"),
        "rank": pl.lit(rank, pl.Int32),
        "parallel_kind": parallel_kind(pl.col("purpose")),
    }
    frame = pl.DataFrame(rows, schema=_SCHEMA).with_columns(**common).drop("purpose")
    return Batch({GroupStatus: frame}, tuple(refused), len(document.statuses))


_SCHEMA = {
    "group_id": pl.String,
    "group_size": pl.Int64,
    "purpose": pl.String,
    "last_enqueued": pl.Int64,
    "last_started": pl.Int64,
    "last_completed": pl.Int64,
    "entries_seen": pl.Int64,
    "place": pl.String,
}


def _facts(group: Group) -> dict[str, object]:
    return {
        "group_id": group.group_id,
        "group_size": group.size,
        "purpose": group.purpose,
    }


def _numbers(status: Mapping[str, object]) -> dict[str, object]:
    """Return the numbers; without timing, starts are not seen, so none is unknown."""
    started = integer_of(status.get("last_started_collective"))
    return {
        "last_enqueued": integer_of(status.get("last_enqueued_collective")),
        "last_started": None if started == _NONE else started,
        "last_completed": integer_of(status.get("last_completed_collective")),
    }


def _latest(document: Document) -> int | None:
    entries = (entry for entry in document.entries if isinstance(entry, dict))
    times = (time_of(entry.get(name)) for entry in entries for name in _TIMES)
    return max((time for time in times if time), default=None)
