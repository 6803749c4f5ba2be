"""Sums of a block of steps that the same ranks tell, over ranks and over hours."""

import numpy as np
import polars as pl

from analysis._step_rollup_block import Block, Matrix, Told
from analysis._step_rollup_columns import GREATEST, PARTS
from analysis._step_rollup_hours import SUMS, Hours
from analysis._step_rollup_medians import WorkOfRanks, medians
from ingest.times import HOUR_NS


def block_steps(block: Block, stall_ratio: float) -> pl.DataFrame:
    """Bring the ranks of each step together.

    Args:
        block: The steps.
        stall_ratio: Share of its step from which a rank is stalled by its input. [1]

    Returns:
        Columns of StepRollups but run_id.
    """
    size = len(block.ranks)
    parts = {f"{part}_total": block.told[part].total(1) for part in PARTS}
    ranks = {f"{p.removesuffix('_ns')}_ranks": block.told[p].ranks() for p in PARTS}
    greatest = {f"{part}_max": block.told[part].greatest() for part in GREATEST}
    columns: dict[str, object] = {
        "step": block.steps,
        "start_ns": block.start_ns.min(axis=1),
        "end_ns": block.end_ns.max(axis=1),
        "duration_ns_total": block.duration_ns.sum(axis=1),
        "duration_ns_max": block.duration_ns.max(axis=1),
    }
    alike = [*parts.items(), *ranks.items(), *greatest.items()]
    alike.append(("stalled_ranks", _stalled(block, stall_ratio)))
    alike += [("tokens", block.told["tokens"].total(1)), *_own_work(block)]
    steps = len(block.steps)
    told = {n: v.new_from_index(0, steps) if len(v) == 1 else v for n, v in alike}
    return pl.DataFrame(columns | told).with_columns(
        attempt=pl.lit(block.attempt, pl.Int32),
        scope=pl.lit("rank"),
        ranks=pl.lit(size, pl.Int64),
        rows=pl.lit(size, pl.Int64),
        step_count=pl.lit(block.step_count, pl.Int64),
        **{name: pl.lit(word, pl.String) for name, word in block.words.items()},
    )


def _stalled(block: Block, ratio: float) -> pl.Series:
    """Count the ranks of each step that their input blocked for long."""
    data = block.told["data_ns"]
    if data.values is None:
        return pl.Series([None], dtype=pl.Int64)
    is_stalled = data.values > block.duration_ns * ratio
    found = pl.Series(is_stalled.sum(axis=1, dtype=np.int64))
    if data.known is None:
        return found
    return found.set(~pl.Series(data.known.any(axis=1)), None)


def _own_work(block: Block) -> list[tuple[str, pl.Series]]:
    """Return the slowest own work of each step, its rank, and the median."""
    work = block.work_ns
    if work is None:
        nothing = pl.Series([None], dtype=pl.Int64)
        rank = pl.Series([None], dtype=pl.Int32)
        names = ("slowest_work_ns", "slowest_rank", "typical_work_ns")
        return list(zip(names, (nothing, rank, nothing), strict=True))
    slowest = work.argmax(axis=1)
    return [
        ("slowest_work_ns", pl.Series(work[np.arange(len(work)), slowest])),
        ("slowest_rank", pl.Series(block.ranks[slowest])),
        ("typical_work_ns", pl.Series(medians(work))),
    ]


def block_hours(block: Block, hours: Hours) -> np.ndarray:
    """Add what ranks did in each hour, of steps that all of them begin in one.

    Returns:
        Which steps are left, since an hour ends between the starts of their ranks.
    """
    first = block.start_ns.min(axis=1) // HOUR_NS
    left: np.ndarray = block.start_ns.max(axis=1) // HOUR_NS != first
    numbers = np.where(left, -1, first)
    edges = np.flatnonzero(np.diff(numbers)) + 1
    work, ends = block.work_ns, block.end_ns
    for begin, end in zip([0, *edges], [*edges, len(numbers)], strict=True):
        if numbers[begin] < 0:
            continue
        steps, hour_ns = slice(begin, end), int(numbers[begin]) * HOUR_NS
        mine = None if work is None else work[steps]
        hours.add(_sums(block, steps, hour_ns, ends[steps], mine))
        if mine is not None:
            hours.hold((block.attempt, hour_ns), WorkOfRanks(block.ranks, mine))
    return left


def _sums(
    block: Block, steps: slice, hour_ns: int, ends: Matrix, work: Matrix | None
) -> pl.DataFrame:
    numbers = block.steps[steps]
    totals = {f"{part}_total": block.told[part].of(steps).total(0) for part in PARTS}
    size = len(block.ranks)
    told = {
        n: v.new_from_index(0, size) if len(v) == 1 else v for n, v in totals.items()
    }
    slowest = pl.lit(None, pl.Int64) if work is None else pl.Series(work.max(axis=0))
    count = pl.lit(len(numbers), pl.Int64)
    rows = pl.DataFrame(
        {
            "rank": block.ranks,
            "start_ns": block.start_ns[steps].min(axis=0),
            "end_ns": ends.max(axis=0),
            "duration_ns_total": block.duration_ns[steps].sum(axis=0),
            **told,
        }
    )
    return rows.with_columns(
        attempt=pl.lit(block.attempt, pl.Int32),
        hour_ns=pl.lit(hour_ns, pl.Int64),
        steps=count,
        first_step=pl.lit(int(numbers.min()), pl.Int64),
        last_step=pl.lit(int(numbers.max()), pl.Int64),
        known_steps=count if work is not None else pl.lit(0, pl.Int64),
        slowest_work_ns=slowest,
    ).select(list(SUMS))


def block_rows(block: Block, chosen: np.ndarray) -> pl.DataFrame:
    """Return some steps of a block as rows of ranks."""
    steps = int(chosen.sum())
    size = len(block.ranks)
    parts = {name: _flat(block.told[name], chosen, steps * size) for name in PARTS}
    return pl.DataFrame(
        {
            "step": np.repeat(block.steps[chosen], size),
            "rank": np.tile(block.ranks, steps),
            "start_ns": block.start_ns[chosen].ravel(),
            "duration_ns": block.duration_ns[chosen].ravel(),
            **parts,
        }
    ).with_columns(
        attempt=pl.lit(block.attempt, pl.Int32),
        step_count=pl.lit(block.step_count, pl.Int64),
    )


def _flat(told: Told, chosen: np.ndarray, rows: int) -> pl.Series:
    if told.values is None:
        return pl.repeat(None, rows, dtype=pl.Int64, eager=True)
    values = pl.Series(told.values[chosen].ravel())
    if told.known is None:
        return values
    return values.set(~pl.Series(told.known[chosen].ravel()), None)
