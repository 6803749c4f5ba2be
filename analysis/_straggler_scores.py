"""Each unit's own work against that of its peers, step by step and block by block."""

from typing import Final

import polars as pl

from analysis._straggler_work import varying
from analysis.robust import leave_one_out_median

#: Places of an attempt: more than it has blocks.
ATTEMPT: Final = 1 << 32

#: Columns of what is compared.
_STEP: Final = ("run_id", "attempt", "step", "block")

_CELL: Final = ("number", "attempt")


def moment(step: str = "step") -> pl.Expr:
    """Return the place of a step in its run: the attempt, then the step. [1]"""
    return pl.col("attempt").cast(pl.Int64) * ATTEMPT + pl.col(step)


def score_units(rows: pl.DataFrame, min_peers: int) -> pl.DataFrame:
    """Compare each unit with the others of its stage in the same step.

    Args:
        rows: Steps of ranks, seated.
        min_peers: Peers that a unit must have. [1]

    Returns:
        The rows with `peers_ns` (the median of the peers' work) and `ratio`, the
        unit's work over that, both null with too few peers. The work of a replica is
        the median of its ranks.
    """
    cells = _with_cells(rows, [*_CELL, "unit_scope", "stage"])
    if (cells["unit_scope"] == "gpu").all():
        return _compare(cells, "work_ns", min_peers)
    units = cells.group_by("cell", "unit").agg(unit_ns=pl.col("work_ns").median())
    told = _compare(units, "unit_ns", min_peers).drop("unit_ns")
    return cells.join(told, on=["cell", "unit"], how="left")


def score_stages(rows: pl.DataFrame, min_peers: int) -> pl.DataFrame:
    """Compare the stages of a pipeline with each other, by the median of their ranks.

    Returns:
        Columns of a step, `stage`, `stage_ns`, `peers_ns` and `ratio`; empty where the
        source does not see the waits between stages.
    """
    known = rows.filter(pl.col("stage").is_not_null() & (pl.col("unit_scope") == "gpu"))
    keys = [*_CELL, "stage", *_STEP]
    stages = known.group_by(pl.col(keys)).agg(stage_ns=pl.col("work_ns").median())
    compared = _compare(_with_cells(stages, list(_CELL)), "stage_ns", min_peers)
    return compared.filter(pl.col("ratio").is_not_null())


def _with_cells(rows: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Number the groups that are compared: numbers sort faster than names."""
    keys = varying(rows, by)
    if keys == ["number"]:
        return rows.with_columns(cell="number")
    cells = rows.select(keys).unique().sort(keys).with_row_index("cell")
    return rows.join(cells, on=keys, nulls_equal=True)


def _compare(rows: pl.DataFrame, value: str, min_peers: int) -> pl.DataFrame:
    compared = leave_one_out_median(rows, "cell", value)
    tested = (pl.col("peers_count") >= min_peers) & (pl.col("peers_median") > 0)
    peers = pl.when(tested).then(pl.col("peers_median"))
    return compared.with_columns(peers_ns=peers, ratio=pl.col(value) / peers).drop(
        "peers_count", "peers_median"
    )


def blocks_of(scored: pl.DataFrame, things: list[str]) -> pl.DataFrame:
    """Return each thing's median ratio in each block.

    Args:
        scored: Rows with `ratio` and a step.
        things: Columns that tell what is compared, beside the run.

    Returns:
        `run_id`, the columns of `things`, `attempt`, `block`, `place` (the block's
        position in the run), `ratio`, and `moment_first` and `moment_last`.
    """
    keys = ["run_id", "attempt", "block", *things]
    known = scored.filter(pl.col("ratio").is_not_null())
    by = varying(known, keys)
    blocks = known.group_by(by).agg(
        pl.col("ratio").median(),
        pl.col(*(set(keys) - set(by))).first(),
        step_first=pl.col("step").min(),
        step_last=pl.col("step").max(),
    )
    return blocks.select(
        *keys,
        "ratio",
        place=moment("block"),
        moment_first=moment("step_first"),
        moment_last=moment("step_last"),
    )
