"""Hold what a user said against what the lake has: runs, days and layouts."""

from typing import Any, Final

import polars as pl

from analysis.rank_hours import RankHours
from ingest import reading
from ingest.errors import SettingError
from ingest.lake import Snapshot
from ingest.tables import (
    Collectives,
    HostMap,
    Jobs,
    Kernels,
    Operations,
    RunCards,
    StepTimings,
    Table,
)
from ingest.times import day_name, midnight_ns
from pipeline._owners import sole_owner

#: Tables that tell which runs there are.
RUN_TABLES: Final[tuple[type[Table], ...]] = (
    RunCards,
    StepTimings,
    Kernels,
    Collectives,
    Operations,
    Jobs,
    RankHours,
)


def scope_of(
    lake: Snapshot, run_id: str | None, since: str | None
) -> frozenset[str] | None:
    """Return the runs that were asked for, None where that is all of them.

    Args:
        lake: The lake.
        run_id: A run.
        since: A day, YYYY-MM-DD: runs seen on it or later.

    Raises:
        SettingError: If there is no such run, or the day is none.
    """
    if run_id is None and since is None:
        return None
    seen = _runs(lake, _since_ns(since) if since is not None else None)
    if run_id is None:
        return seen
    if run_id not in _runs(lake, None):
        known = ", ".join(sorted(_runs(lake, None))) or "none yet"
        message = f"--run-id {run_id!r}: no such run in the lake; runs: {known}"
        raise SettingError(message)
    return frozenset({run_id}) if since is None else seen & {run_id}


def _since_ns(day: str) -> int:
    try:
        return midnight_ns(day)
    except ValueError as error:
        message = f"--since {day!r}: expected a day, as in 2026-05-01"
        raise SettingError(message) from error


def _runs(lake: Snapshot, since_ns: int | None) -> frozenset[str]:
    names: set[str] = set()
    for table in RUN_TABLES:
        if since_ns is None or table.day_column is not None:
            names |= _runs_of(lake, table, since_ns)
    return frozenset(names)


def _runs_of(lake: Snapshot, table: type[Table], since_ns: int | None) -> set[str]:
    """Return the runs of a table; those of its parts that have one are not read."""
    day = None if since_ns is None else day_name(since_ns)
    parts = [
        part
        for part in lake.parts(table)
        if day is None or (part.day is not None and part.day >= day)
    ]
    alone = {part.path: sole_owner(part, "run_id") for part in parts}
    mixed = [part for part in parts if alone[part.path] is None]
    rows = reading.scan(lake, table, mixed)
    found = rows.select(pl.col("run_id").drop_nulls().unique()).collect()
    return {name for name in alone.values() if name} | set(found.to_series())


def wrong_layouts(lake: Snapshot) -> dict[str, str]:
    """Return the runs whose layout is not that of their ranks, and what is wrong.

    The host map tells the number of ranks; without one, a rank beyond the product
    contradicts it too. Telemetry of only some ranks does not.
    """
    wrong = _layouts(lake).filter(
        (pl.col("mapped") != pl.col("needed")) | (pl.col("seen") > pl.col("needed"))
    )
    return {row["run_id"]: _contradiction(row) for row in wrong.collect().to_dicts()}


def _contradiction(row: dict[str, Any]) -> str:
    is_map = row["mapped"] is not None and row["mapped"] != row["needed"]
    have = (
        f"its host map has {row['mapped']}"
        if is_map
        else f"telemetry tells of rank {row['seen'] - 1}"
    )
    return (
        f"run {row['run_id']!r}: layout refused: tp*cp*pp*dp gives {row['needed']}"
        f" ranks, {have}; correct [layout], the map or the telemetry"
    )


def _layouts(lake: Snapshot) -> pl.LazyFrame:
    cards = lake.scan(RunCards).select(
        "run_id", needed=pl.col("tp") * pl.col("cp") * pl.col("pp") * pl.col("dp")
    )
    mapped = lake.scan(HostMap).drop_nulls("rank")
    ranks = mapped.group_by("run_id").agg(pl.col("rank").n_unique().alias("mapped"))
    rows = [_greatest_ranks(lake, table) for table in (StepTimings, Kernels, RankHours)]
    highest = pl.concat(rows).group_by("run_id")
    seen = highest.agg((pl.col("rank").max() + 1).alias("seen"))
    joined = cards.join(ranks, on="run_id", how="left")
    return joined.join(seen, on="run_id", how="left")


def _greatest_ranks(lake: Snapshot, table: type[Table]) -> pl.LazyFrame:
    """Return run_id and rank of a table: of parts of one run the greatest alone."""
    told, mixed = [], []
    for part in lake.parts(table):
        run, rank = sole_owner(part, "run_id"), part.bounds("rank")[1]
        if run is None or not isinstance(rank, int):
            mixed.append(part)
        else:
            told.append((run, rank))
    schema = {"run_id": pl.String, "rank": pl.Int64}
    known = pl.LazyFrame(told, schema=schema, orient="row")
    rows = reading.scan(lake, table, mixed)
    return pl.concat([known, rows.select("run_id", pl.col("rank").cast(pl.Int64))])
