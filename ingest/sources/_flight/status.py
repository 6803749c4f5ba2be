"""How far a rank got in each of its groups, from `pg_status` of a dump."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from ingest.communication import parallel_kind
from ingest.sources._flight.document import Document
from ingest.sources._flight.groups import Group, name_of
from ingest.sources._flight.numbers import numbered
from ingest.sources._flight.values import integer_of, shown, time_of
from ingest.sources._kineto.rows import trace_id
from ingest.sources._source import Batch, Reading, Refusal
from ingest.tables import GroupStatus, Table

#: What a number of a collective is where there was none.
_NONE: Final = -1

_UNNAMED: Final = "neither an entry nor the order of names tells the group of it"

_TIMES: Final = (
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
            refused.append(_refused(key, status, is_known=group is not None))
        else:
            counted = {"entries_seen": seen[group.name], "place": f"group {number}"}
            rows.append(_facts(group) | _numbers(status) | counted)
    frame = _frame(rows, _latest(document), rank, reading)
    found: dict[type[Table], pl.DataFrame] = {GroupStatus: frame} if rows else {}
    return Batch(found, tuple(refused), len(document.statuses))


def _refused(key: object, status: object, *, is_known: bool) -> Refusal:
    rule = "status|type" if is_known else "group_id|required"
    hint = None if is_known else _UNNAMED
    return Refusal(GroupStatus, f"group {shown(key)}", rule, shown({key: status}), hint)


def _frame(
    rows: list[dict[str, Any]], latest_ns: int | None, rank: int, reading: Reading
) -> pl.DataFrame:
    return (
        pl.DataFrame(rows, schema=_SCHEMA)
        .with_columns(
            run_id=pl.lit(reading.run_id),
            dump_id=pl.lit(trace_id(reading)),
            time_ns=pl.lit(latest_ns, pl.Int64),
            time_quality=pl.lit("exact"),
            rank=pl.lit(rank, pl.Int32),
            parallel_kind=parallel_kind(pl.col("purpose")),
        )
        .drop("purpose")
    )


_SCHEMA: Final = {
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
