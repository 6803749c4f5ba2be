"""Dumps of a hang as the product reads them, and what it makes of them."""

import hashlib
import io
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from analysis import Results
from analysis.attempts import Attempts
from analysis.hangs import Hangs, HangSuspects, find_hangs
from ingest.sources import flight_recorder
from ingest.tables import Collectives, GroupStatus, Table
from tests.ingest.readings import reading

NO_ATTEMPTS = Attempts.create_empty().lazy()

Read = dict[type[Table], pl.DataFrame]


def read(files: Iterable[tuple[str, bytes]]) -> Read:
    """Return the rows of dumps, each of a name and its bytes."""
    found: dict[type[Table], list[pl.DataFrame]] = {Collectives: [], GroupStatus: []}
    for name, data in files:
        file_id = hashlib.sha256(name.encode() + data).hexdigest()
        told = reading(name=name, file_id=file_id, run_id="run")
        for batch in flight_recorder.read(io.BytesIO(data), told):
            assert not batch.refused
            for table, rows in batch.rows.items():
                found[table].append(rows.drop("place"))
    return {table: whole(table, frames) for table, frames in found.items()}


def whole(table: type[Table], frames: list[pl.DataFrame]) -> pl.DataFrame:
    """Return frames as one with every column of its table."""
    every = pl.concat([table.create_empty(), *frames], how="diagonal_relaxed")
    named = every.with_columns(file_id=pl.lit("f")).select(table.column_names())
    return table.validate(named, cast=True)


def find(rows: Read, **told: Any) -> Results:
    """Find hangs in the rows of dumps."""
    return find_hangs(
        Collectives.cast(rows[Collectives].lazy()),
        GroupStatus.cast(rows[GroupStatus].lazy()),
        NO_ATTEMPTS,
        **told,
    )


def named(found: Results) -> list[int]:
    """Return the ranks that are candidates of any hang."""
    suspects = found[HangSuspects].filter("is_candidate")
    return sorted(suspects["rank"].to_list())


def only(found: Results) -> Mapping[str, Any]:
    """Return the only hang."""
    return found[Hangs].row(0, named=True) if found[Hangs].height == 1 else {}
