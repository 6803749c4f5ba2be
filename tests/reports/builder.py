"""Frames of rows by hand, and what a page about them needs."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import polars as pl

from analysis import Frames
from ingest._schema import schema_of
from ingest.tables import Table
from reports.dollars import Price
from reports.provenance import Provenance

Row = dict[str, Any]
Rows = Mapping[type[Table], list[Row]]

S = 10**9
HOUR = 3600 * S
START = 1_795_000_000 * S  # 2026-11-18 11:06:40 UTC
RUN = "pod-a-main"
HOSTS = ("node-a11", "node-b12")
STEPS = 120
SLOW_RANK = 7


def framed(rows: Rows) -> Frames:
    """Frames of rows; a column that a row leaves out is null."""
    return Frames({table: frame(table, some).lazy() for table, some in rows.items()})


def frame(table: type[Table], rows: list[Row]) -> pl.DataFrame:
    """One table of rows; a column that a row leaves out is null."""
    schema = schema_of(table)
    unknown = {key for row in rows for key in row} - set(schema)
    assert not unknown, f"{table.__name__} has no {unknown}"
    columns = {name: [row.get(name) for row in rows] for name in schema}
    return pl.DataFrame(columns, schema=schema, strict=False)


def provenance_of(*run_ids: str) -> Provenance:
    """Where a page of these runs comes from."""
    return Provenance(
        run_ids=run_ids,
        lake="lake",
        generated_ns=START + 24 * HOUR,
        version="0.1.0",
        settings={"usd_per_gpu_hour": "2.0", "zone": "UTC"},
        settings_sources={"usd_per_gpu_hour": "default", "zone": "set"},
        thresholds={"straggler_gate_ratio": 0.02},
        analysis_versions={"lost_time": 1},
    )


def prices_of(*run_ids: str, usd: str = "2.5") -> dict[str, Price]:
    """A price for each run, and the fallback."""
    own = {run_id: Price(Decimal(usd), "run card", "rental") for run_id in run_ids}
    return {"": Price(Decimal("2.0"), "default", "rental"), **own}
