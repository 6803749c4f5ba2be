"""Collectives as ranks saw them, and what is made of them."""

from typing import Any

import dataframely as dy
import polars as pl

from analysis._clock_shifts import Clocks
from analysis.attempts import Attempts
from analysis.clock_offsets import find_clock_offsets
from analysis.collective_waits import measure_waits
from ingest.tables import Collectives

NO_ATTEMPTS = Attempts.create_empty().lazy()


def seen(rank: int | None, start: int, end: int | None, **told: Any) -> dict[str, Any]:
    """What a rank saw of a collective of a group of two."""
    duration = None if end is None else end - start
    return {
        "file_id": f"f{rank}",
        "run_id": "run",
        "attempt": 0,
        "trace_id": f"t{rank}",
        "rank": rank,
        "group_id": "dp",
        "group_size": 2,
        "kind": "allreduce",
        "is_p2p": False,
        "sequence": 1,
        "match_method": "sequence",
        "start_ns": start,
        "end_ns": end,
        "duration_ns": duration,
        "time_basis": "gpu",
        "state": "completed" if end is not None else "started",
    } | told


def collectives(*rows: dict[str, Any]) -> dy.LazyFrame[Collectives]:
    numbered = [{"event": event} | row for event, row in enumerate(rows)]
    frame = pl.DataFrame(numbered, schema=Collectives.create_empty().schema)
    return Collectives.validate(frame).lazy()


def clocks_seen(rows: dy.LazyFrame[Collectives]) -> Clocks:
    """What the collectives alone tell of clocks: no host map."""
    no_hosts = pl.LazyFrame(
        schema={
            "run_id": pl.String,
            "attempt": pl.Int32,
            "rank": pl.Int32,
            "gpu_host": pl.String,
        }
    )
    return Clocks(find_clock_offsets(rows, NO_ATTEMPTS).lazy(), no_hosts)


def measure(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    seen_by_ranks = collectives(*rows)
    clocks = clocks_seen(seen_by_ranks)
    return measure_waits(seen_by_ranks, NO_ATTEMPTS, clocks).to_dicts()
