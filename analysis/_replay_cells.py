"""Steps and replicas of a trace that went through one and the same graph.

A cell is a step of a replica (and lane) through all its stages. Cells that hold the
same operations share a graph, and only their times differ: an array over cells per
operation is all that a replay needs.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._replay_kinds import KINDS
from analysis._replay_rows import UnfitTraceError

_CELL: Final = ("step", "dp_rank", "lane")
_REPLICA: Final = ("dp_rank", "lane")

#: A replica is kept if it fits in this share of the steps in which any does; one that
#: fits less often would leave out too many steps of the others. [1]
FITS_FROM: Final = 0.5

#: Primes of a check sum over the operations of a cell: products stay below 2^62.
_PRIMES: Final = (2_147_483_647, 1_000_003)


class Cells(NamedTuple):
    """Rows of a trace by operation and cell, and what does not fit.

    Attributes:
        rows: Sorted by `node`, then `cell`: as many rows for each node as cells.
        steps: Steps that are replayed, ascending.
        replicas: Replicas of each step. [1]
        lanes: Ranks of each stage of a replica. [1]
        steps_left_out: Steps that do not fit in every replica. [1]
        replicas_left_out: Replicas and lanes that do not fit at all. [1]
    """

    rows: pl.DataFrame
    steps: list[int]
    replicas: int
    lanes: int
    steps_left_out: int
    replicas_left_out: int


def cells_of(rows: pl.DataFrame) -> Cells:
    """Choose the graph that most cells went through, and the cells that fit it.

    Steps are kept where every replica fits: a collective over replicas cannot be
    replayed without one of them.

    Args:
        rows: Seated rows of a trace.

    Raises:
        UnfitTraceError: If no step fits in every replica.
    """
    coded = rows.with_columns(node=_code(rows))
    fits = _fitting(coded)
    replicas = _replicas(fits)
    steps = _steps(fits.join(replicas, on=_REPLICA), replicas.height)
    if not steps:
        reason = "no step has the same operations in every replica"
        raise UnfitTraceError(reason)
    count, lanes = replicas["dp_index"].n_unique(), replicas["lane"].n_unique()
    return Cells(
        _arranged(coded, replicas, steps, lanes),
        steps,
        count,
        lanes,
        rows["step"].n_unique() - len(steps),
        rows.select(_REPLICA).unique().height - replicas.height,
    )


def _code(rows: pl.DataFrame) -> pl.Expr:
    """Number operations by stage, kind and position. [1]"""
    positions = int(rows["position"].to_physical().max() or 0) + 1  # type: ignore[arg-type]
    kind = pl.col("kind").to_physical().cast(pl.Int64)
    return (pl.col("pp_rank").cast(pl.Int64) * len(KINDS) + kind) * positions + pl.col(
        "position"
    )


def _fitting(coded: pl.DataFrame) -> pl.DataFrame:
    large, small = _PRIMES
    node = pl.col("node") % large + 1
    cells = coded.group_by(_CELL).agg(
        pl.len().alias("held"),
        node.sum().alias("sum"),
        (node * (node % small) % large).sum().alias("product"),
    )
    shape = ("held", "sum", "product")
    common = (
        cells.group_by(shape)
        .agg(pl.len().alias("cells"), pl.col("step").min())
        .sort(
            "cells",
            "step",
            "held",
            *shape,
            descending=[True, False, True, *[False] * 3],
        )
    )
    return cells.join(common.head(1), on=shape, how="semi").select(_CELL)


def _replicas(fits: pl.DataFrame) -> pl.DataFrame:
    """Return replicas that fit often enough, whole in all lanes, numbered."""
    often = fits.group_by(_REPLICA).agg(pl.len().alias("steps"))
    most = fits["step"].n_unique()
    kept = often.filter(pl.col("steps") >= FITS_FROM * most)
    lanes = kept["lane"].n_unique()
    whole = kept.filter(pl.len().over("dp_rank") == lanes)
    index = pl.col("dp_rank").rank("dense").cast(pl.Int64) - 1
    return whole.select(*_REPLICA, dp_index=index)


def _steps(fits: pl.DataFrame, replicas: int) -> list[int]:
    whole = fits.group_by("step").agg(pl.len().alias("fits"))
    steps = whole.filter(pl.col("fits") == replicas)["step"]
    return [int(step) for step in steps.sort()]


def _arranged(
    coded: pl.DataFrame, replicas: pl.DataFrame, steps: list[int], lanes: int
) -> pl.DataFrame:
    numbers = pl.DataFrame(
        {"step": steps, "step_index": range(len(steps))},
        schema={"step": pl.Int64, "step_index": pl.Int64},
    )
    step_cells = replicas["dp_index"].n_unique() * lanes
    lane = pl.col("lane").rank("dense").cast(pl.Int64) - 1
    numbered = replicas.select(*_REPLICA, place=pl.col("dp_index") * lanes + lane)
    chosen = coded.join(numbered, on=_REPLICA).join(numbers, on="step")
    cells = len(steps) * step_cells
    cell = pl.col("step_index") * step_cells + pl.col("place")
    node = pl.col("node").rank("dense").cast(pl.Int64) - 1
    rows = chosen.drop("place", "step_index").with_columns(node=node)
    number = chosen.select(cell).to_series() + rows["node"] * cells
    placed = rows[_inverse(number.to_numpy())]
    counted = pl.int_range(pl.len(), dtype=pl.Int64)
    return placed.with_columns(
        node=(counted // cells).cast(pl.Int32), cell=(counted % cells).cast(pl.Int32)
    )


def _inverse(number: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the place of each number: every one of them is there once."""
    places = np.empty_like(number)
    places[number] = np.arange(len(number))
    return places
