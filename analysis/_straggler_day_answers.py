"""A day's findings as rows of its tables."""

from typing import Final

import numpy as np
import polars as pl

from analysis._straggler_day_pass import Compared
from analysis._straggler_day_search import DaySearch
from analysis._straggler_middle import Number, known_median
from analysis._straggler_stretches import WINDOW_BLOCKS
from analysis._straggler_tests import smallest_visible
from analysis._straggler_things import RANK
from ingest.tables import Table

#: Steps of a stretch that savings are told of. [1]
STRETCH_STEPS: Final = 240

_SUMS: Final = pl.Schema(
    {
        "median_ns": pl.Float64,
        "least_ns": pl.Float64,
        "most_ns": pl.Float64,
        "last_ns": pl.Float64,
        "lowest_score": pl.Float64,
        "reports_count": pl.Int64,
    }
)


def rows_of(table: type[Table], rows: pl.DataFrame, **fixed: str) -> pl.DataFrame:
    """Return rows as a table has them, in its order.

    Args:
        table: The table.
        rows: What was found; empty where it was nothing.
        **fixed: Columns that are the same in all rows.
    """
    if rows.is_empty():
        return table.create_empty()
    told = rows.with_columns(**{name: pl.lit(value) for name, value in fixed.items()})
    names = table.column_names()
    return table.validate(told.select(names).sort(table.key), cast=True)


def tests_of(found: DaySearch) -> pl.DataFrame:
    """Return the row of StragglerDays."""
    columns, units = found.blocks.columns, pl.col("scope").is_in(["gpu", "dp_rank"])
    is_unit = found.cover.filter(units)
    judged = is_unit.join(found.judged, on="thing", how="semi")
    visible = smallest_visible(found.judged, found.limits)
    seen = np.unique(np.concatenate([[*found.unseen], *_ranks(found.compared)]))
    first = columns.head(1).to_dicts() or [{}]
    last = columns.tail(1).to_dicts() or [{}]
    is_tested = judged.height > 0
    shortest = WINDOW_BLOCKS * found.limits.block_steps
    row = {
        "first_attempt": first[0].get("attempt"),
        "first_step": first[0].get("first_step"),
        "last_attempt": last[0].get("attempt"),
        "last_step": last[0].get("last_step"),
        "ranks_seen": len(seen),
        "ranks_compared": is_unit["rank"].n_unique(),
        "ranks_tested": judged["rank"].n_unique(),
        "steps_tested": found.costs.totals.height,
        "things_tested": found.judged.height,
        "smallest_visible_ratio": _only(visible["smallest_visible_ratio"]),
        "shortest_spell_count": shortest if is_tested else None,
        "sees_replicas": bool((found.cover["scope"] == "dp_rank").any()),
    }
    return pl.DataFrame([row], infer_schema_length=1)


def _ranks(compared: list[Compared]) -> list[Number]:
    return [one.ranks for one in compared]


def _only(values: pl.Series) -> float | None:
    return None if values.is_empty() else values[0]


def steps_of(found: DaySearch) -> pl.DataFrame:
    """Return rows of StragglerDaysSteps."""
    return found.costs.totals


def ranks_of(found: DaySearch) -> pl.DataFrame:
    """Return rows of StragglerDaysRanks."""
    units = found.cover.filter(pl.col("scope").is_in(["gpu", "dp_rank"]))
    judged = found.judged.select(
        "thing", "blocks", slowdown_ratio=pl.col("median").exp()
    )
    told = units.join(judged, on="thing", how="left").unique(RANK, keep="first")
    reports = _reports(found.compared)
    every = reports.join(told, on=["attempt", "rank"], how="left")
    lengths = pl.col("median_ns", "least_ns", "most_ns", "last_ns").round()
    return every.with_columns(
        lengths.cast(pl.Int64),
        blocks_count=pl.col("blocks").fill_null(0),
        is_tested=pl.col("blocks").is_not_null(),
    )


def _reports(compared: list[Compared]) -> pl.DataFrame:
    """Return what is kept of the reports of each rank and attempt."""
    schema = pl.Schema([("attempt", pl.Int32), ("rank", pl.Int32), *_SUMS.items()])
    parts = [pl.DataFrame(schema=schema)]
    for attempt in sorted({one.attempt for one in compared}):
        mine = [one for one in compared if one.attempt == attempt]
        ranks = np.unique(np.concatenate(_ranks(mine)))
        work = np.full((sum(len(one.reports) for one in mine), len(ranks)), np.nan)
        at = 0
        for one in mine:
            rows = slice(at, at + len(one.reports))
            work[rows, np.searchsorted(ranks, one.ranks)] = one.report_work
            at += len(one.reports)
        sums = _summed(np.ascontiguousarray(work.T))
        named = pl.DataFrame({"rank": ranks, **sums}).fill_nan(None)
        told = named.with_columns(attempt=pl.lit(attempt))
        parts.append(told.select(list(schema)).cast(schema))
    return pl.concat(parts)


def _summed(work: Number) -> dict[str, Number]:
    """Return median, least, most and last of each rank's reports, and its score. [ns]

    Args:
        work: Ranks by reports; NaN where there is none. [ns]
    """
    work[~(work > 0)] = np.nan
    known = ~np.isnan(work)
    filled = np.where(known, work, np.inf)
    best = np.minimum.accumulate(filled, axis=1)
    scores = np.where(known, best / np.where(known, work, 1), np.inf)
    last = work.shape[1] - 1 - np.argmax(known[:, ::-1], axis=1)
    count = known.sum(axis=1)
    some = count > 0
    return {
        "median_ns": known_median(work),
        "least_ns": np.where(some, filled.min(axis=1), np.nan),
        "most_ns": np.where(some, np.where(known, work, 0).max(axis=1), np.nan),
        "last_ns": work[np.arange(len(work)), last],
        "lowest_score": np.where(some, scores.min(axis=1), np.nan),
        "reports_count": count,
    }


def savings_of(found: DaySearch) -> pl.DataFrame:
    """Return rows of StragglerDaysSavings."""
    if found.losses.is_empty():
        return found.losses
    names = found.slow.select("spell", "scope", "scope_id", "edge")
    lost = pl.col("lost_gpu_ns").cast(pl.Float64)
    by = ["scope", "scope_id", "attempt", "stretch", "edge"]
    block = pl.col("step") // found.limits.block_steps
    stretch = pl.col("step") // STRETCH_STEPS
    told = found.losses.join(names, on="spell").with_columns(
        stretch=stretch, block=block
    )
    ordered = told.sort("scope", "scope_id", "attempt", "step", "spell")
    blocks = ordered.group_by(*by, "block", maintain_order=True).agg(
        steps_seen=pl.col("step").n_unique().cast(pl.Int64),
        saved_ns=pl.col("saved_ns").cast(pl.Int64).sum(),
        saved_gpu_ns=pl.col("lost_gpu_ns").sum(),
        saved_squares=(lost * lost).sum(),
    )
    saved = pl.col("saved_gpu_ns").cast(pl.Float64)
    count = (saved != 0).sum().cast(pl.Int64)
    return blocks.group_by(by, maintain_order=True).agg(
        pl.col("steps_seen", "saved_ns", "saved_gpu_ns", "saved_squares").sum(),
        blocks_count=count,
        blocks_steps=count * found.limits.block_steps,
        blocks_squares=(saved * saved).sum(),
    )
