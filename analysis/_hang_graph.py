"""Roots of the graph of who waits for whom."""

from typing import Final

import numpy as np
import polars as pl

from analysis._hang_cycles import on_every_cycle, parts_without_exit, steps_to
from analysis._hang_dumps import HANG, RANK
from analysis._hang_operations import Operations

#: Ranks that are named at most. Who has more to look at is helped by none of them. [1]
MOST: Final = 4


def roots_of(found: Operations, counts: pl.DataFrame) -> pl.DataFrame:
    """Return the ranks that others wait for and that wait for nobody else.

    Ranks wait for operations, and operations for ranks: a directed graph. Where a part
    of it leads nowhere else, the hang begins: in a rank that waits for nobody, or whose
    standing still is its own doing; or in ranks that wait for each other. Of those, the
    ones are meant that are on every way around: each of them alone explains it all.
    Only where more than MOST are left in a hang, fewer are looked for among ranks that
    wait for each other: those that may have passed all that they wait in; then those
    that most of the others wait for; then those that have asked for less.

    Args:
        found: Operations, who stands at them and whom they wait for.
        counts: How far ranks got in their groups.

    Returns:
        `run_id`, `hang`, `rank`, and `is_mutual`: whether it waits for its waiters.
    """
    nodes = _ranks(found)
    waits = _waits(found, nodes)
    source, target = waits["from"].to_numpy(), waits["to"].to_numpy()
    size = nodes.height + found.operations.height
    part = parts_without_exit(source, target, size)
    names = on_every_cycle(source, target, part, nodes.height)
    held = nodes.with_columns(
        part=pl.Series(part[: nodes.height]), is_named=pl.Series(names)
    )
    rows = held.filter(pl.col("part") >= 0).join(_awaited_by(found, held), on=RANK)
    mutual = pl.len().over("part") > 1
    rows = rows.with_columns(is_mutual=mutual)
    rows = rows.filter("is_mutual" | (pl.col("waiting") > 0))
    some = pl.col("is_named").any().over("part")
    rows = rows.filter(~pl.col("is_mutual") | pl.col("is_named") | ~some)
    return _narrowed(rows, found, counts).select(*RANK, "is_mutual").sort(RANK)


def depths_of(found: Operations, roots: pl.DataFrame) -> pl.DataFrame:
    """Return how many ranks away from the nearest root each rank waits.

    Args:
        found: Operations, who stands at them and whom they wait for.
        roots: Rows of `roots_of`.

    Returns:
        `run_id`, `hang`, `rank` and `depth`: 0 of a root, 1 of who waits for one, ...;
        ranks of which no way leads to a root are not there.
    """
    nodes = _ranks(found)
    waits = _waits(found, nodes)
    source, target = waits["from"].to_numpy(), waits["to"].to_numpy()
    size = nodes.height + found.operations.height
    goals = nodes.join(roots, on=RANK, how="semi")["node"].to_numpy()
    steps = steps_to(goals.astype(np.int64), source, target, size)[: nodes.height]
    depth = pl.Series(np.where(np.isfinite(steps), steps, -2) // 2, dtype=pl.Int32)
    placed = nodes.with_columns(depth=depth).filter(pl.col("depth") >= 0)
    return placed.select(*RANK, "depth")


def _ranks(found: Operations) -> pl.DataFrame:
    ranks = pl.concat([found.standing.select(RANK), found.awaited.select(RANK)])
    return ranks.unique().sort(RANK).with_row_index("node")


def _waits(found: Operations, nodes: pl.DataFrame) -> pl.DataFrame:
    """Return the edges: `from` and `to`; operations come after ranks."""
    own = found.awaited.filter("is_own").select(RANK).unique()
    # whom an operation waits for does not wait in it, unless all there wait for all
    held_up = found.awaited.filter(pl.col("rule") != "stuck_together")
    standing = (
        found.standing.join(own, on=RANK, how="anti")
        .join(held_up, on=("operation", *RANK), how="anti")
        .join(nodes, on=RANK)
    )
    # what waits for nobody known explains nothing, where the rank stands elsewhere, too
    known = found.awaited.select("operation").unique().with_columns(is_known=True)
    told = standing.join(known, on="operation", how="left")
    has_known = pl.col("is_known").any().over(RANK).fill_null(value=False)
    standing = told.filter(pl.col("is_known").is_not_null() | ~has_known)
    awaited = found.awaited.join(nodes, on=RANK)
    node = pl.col("node").cast(pl.Int64)
    operation = nodes.height + pl.col("operation").cast(pl.Int64)
    edges = pl.concat(
        [
            standing.select(node.alias("from"), operation.alias("to")),
            awaited.select(operation.alias("from"), node.alias("to")),
        ]
    )
    return edges.sort("from", "to")


def _awaited_by(found: Operations, held: pl.DataFrame) -> pl.DataFrame:
    """Count the others that wait for each rank: all, and those of its own part."""
    part = held.select(*RANK, "part")
    standing = found.standing.join(part, on=RANK)
    whole = standing.group_by("operation").agg(every=pl.len())
    near = standing.group_by("operation", "part").agg(near=pl.len())
    mine = found.standing.select("operation", *RANK, mine=1)
    rows = (
        found.awaited.join(part, on=RANK)
        .join(whole, on="operation", how="left")
        .join(near, on=("operation", "part"), how="left")
        .join(mine, on=("operation", *RANK), how="left")
    )
    count = {
        n: pl.col(n).fill_null(0).cast(pl.Int64) for n in ("every", "near", "mine")
    }
    return rows.group_by(RANK).agg(
        waiting=(count["every"] - count["mine"]).sum(),
        near=(count["near"] - count["mine"]).sum(),
    )


def _narrowed(
    rows: pl.DataFrame, found: Operations, counts: pl.DataFrame
) -> pl.DataFrame:
    """Keep fewer of the ranks that wait for each other, where too many are left."""
    strong = found.standing.filter(~pl.col("is_weak")).select(RANK).unique()
    passed = rows.select(RANK).join(strong, on=RANK, how="anti")
    marked = rows.join(
        passed.with_columns(may_pass=True), on=RANK, how="left"
    ).with_columns(pl.col("may_pass").fill_null(value=False))
    some = _kept(marked, pl.col("may_pass"))
    some = _kept(some, pl.col("near") == pl.col("near").max().over("part"))
    entered = some.join(counts.select(*RANK, "group_id", "entered"), on=RANK)
    most = pl.col("entered").max().over("part", "group_id")
    behind = entered.filter(pl.col("entered") < most).select(RANK).unique()
    told = some.join(behind.with_columns(is_behind=True), on=RANK, how="left")
    return _kept(told, pl.col("is_behind").fill_null(value=False))


def _kept(rows: pl.DataFrame, test: pl.Expr) -> pl.DataFrame:
    """Keep ranks that pass a test, where too many are left and some pass it."""
    tested = rows.with_columns(passes=test)
    is_open = pl.col("is_mutual") & (pl.len().over(HANG) > MOST)
    some = pl.col("passes").any().over("part")
    return tested.filter(~is_open | ~some | pl.col("passes")).drop("passes")
