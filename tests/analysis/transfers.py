"""Transfers of known times, and what is made of them."""

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from analysis import Frames
from analysis.bandwidth_checks import BandwidthChecks, check_bandwidths
from analysis.collective_waits import CollectiveWaits
from analysis.gpus import Gpus
from analysis.latency_anatomy import measure_latency
from ingest.tables import BandwidthTests, Collectives, Table

Row = dict[str, Any]

#: Half of the columns of a wait, those that no test looks at.
_WAIT: Row = {
    "run_id": "run",
    "attempt": 0,
    "group_id": "dp:[0,1]",
    "kind": "allreduce",
    "is_p2p": False,
    "match_method": "sequence",
    "ranks_seen": 2,
    "ranks_expected": 2,
}

_TEST: Row = {
    "file_id": "f",
    "run_id": "run",
    "test_id": "t 1",
    "kind": "allreduce",
    "in_place": False,
}


def frame(table: type[Table], rows: Sequence[Row]) -> pl.LazyFrame:
    """Rows of a table; what a row leaves out is null."""
    schema = table.create_empty().schema
    columns = {name: [row.get(name) for row in rows] for name in schema}
    return pl.DataFrame(columns, schema=schema, strict=False).lazy()


def waits(times: Iterable[tuple[int | None, int | None]], **told: Any) -> list[Row]:
    """Collectives of these sizes and times. [B, ns]"""
    numbered = enumerate(times)
    return [
        _WAIT
        | {"sequence": n, "occurrence": n, "bytes_total": size, "transfer_ns": time}
        | told
        for n, (size, time) in numbered
    ]


def benchmark(times: Iterable[tuple[int, int]], **told: Any) -> list[Row]:
    """Rows of a benchmark of these sizes and times. [B, ns]"""
    return [
        _TEST | {"position": n, "bytes_total": size, "duration_ns": time} | told
        for n, (size, time) in enumerate(times)
    ]


def collectives(ranks: Sequence[int], **told: Any) -> list[Row]:
    """One collective as its ranks saw it."""
    size = len(ranks)
    group = f"dp:[{','.join(str(rank) for rank in ranks)}]"
    row = {"run_id": "run", "group_id": group, "group_size": size, "is_p2p": False}
    return [row | {"rank": rank, "parallel_kind": "dp"} | told for rank in ranks]


def checked(rows: Sequence[Row]) -> list[Row]:
    """Rows of a benchmark, recomputed."""
    return check_bandwidths(frame(BandwidthTests, rows)).to_dicts()  # type: ignore[arg-type]


def frames_of(
    seen: Sequence[Row] = (),
    tests: Sequence[Row] = (),
    members: Sequence[Row] = (),
    gpus: Sequence[Row] = (),
) -> Frames:
    """What the anatomy of these rows reads."""
    return Frames(
        {
            CollectiveWaits: frame(CollectiveWaits, seen),
            BandwidthChecks: frame(BandwidthChecks, checked(tests)),
            Collectives: frame(Collectives, members),
            Gpus: frame(Gpus, gpus),
        }
    )


def anatomy(
    seen: Sequence[Row] = (),
    tests: Sequence[Row] = (),
    members: Sequence[Row] = (),
    gpus: Sequence[Row] = (),
) -> list[Row]:
    """The anatomy of these rows."""
    return measure_latency(frames_of(seen, tests, members, gpus))[0].to_dicts()
