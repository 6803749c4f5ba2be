"""What a group of ranks is for: its description says it, or the layout of the run."""

from typing import Final

import polars as pl

from analysis._ledger_layout import AXES, place_in_layout
from ingest.tables import Collectives

#: Where neither tells what a group is for.
UNKNOWN: Final = "unknown"

#: Group of all ranks.
WORLD: Final = "world"

_GROUP: Final = ("run_id", "group_id")


def axes_of_groups(collectives: pl.LazyFrame, runs: pl.LazyFrame) -> pl.DataFrame:
    """Return what each group is for.

    A description that names one axis counts. Else the members that the group prints are
    placed in the layout of the run: the axis along which they differ is the group's. A
    group along context and data together sums gradients: it counts as data-parallel,
    and so does one of ranks that hold the same experts. Where a layout has one axis
    alone, every group is along it, also one that prints no members.

    Args:
        collectives: Rows of Collectives.
        runs: Rows of Runs.

    Returns:
        Columns `run_id`, `group_id`, `parallel_kind` and `parallel_basis` (description,
        layout or unknown), a row for each group.
    """
    named = (
        collectives.group_by(_GROUP)
        .agg(
            told=Collectives.parallel_kind.col.min(),
            size=Collectives.group_size.col.max(),
            exchanges=(Collectives.kind.col.str.starts_with("alltoall")).all(),
        )
        .collect(engine="streaming")
    )
    placed = _from_layout(named.lazy(), runs).collect()
    joined = (
        named.join(placed, on=list(_GROUP), how="left")
        .join(_only_axes(runs).collect(), on="run_id", how="left")
        .with_columns(inferred=pl.coalesce("only", "inferred"))
    )
    is_named = (pl.col("told") != WORLD).fill_null(value=False)
    said = pl.when(is_named).then("told")
    axis = pl.coalesce(said, "inferred", "told", pl.lit(UNKNOWN))
    by_layout = ~is_named & pl.col("inferred").is_not_null()
    basis = (
        pl.when(by_layout)
        .then(pl.lit("layout"))
        .when(pl.col("told").is_not_null())
        .then(pl.lit("description"))
        .otherwise(pl.lit(UNKNOWN))
    )
    return joined.select(*_GROUP, parallel_kind=axis, parallel_basis=basis)


def _only_axes(runs: pl.LazyFrame) -> pl.LazyFrame:
    """Return the one axis of more than one position, of runs that have just one."""
    long = {axis: pl.col(axis) > 1 for axis in (*AXES, "ep")}
    count = pl.sum_horizontal(one.cast(pl.Int32) for one in long.values())
    known = pl.all_horizontal(pl.col(AXES).is_not_null())
    only = pl.coalesce(
        pl.when(is_long).then(pl.lit(axis)) for axis, is_long in long.items()
    )
    return runs.select("run_id", only=pl.when(known & (count == 1)).then(only))


def _from_layout(groups: pl.LazyFrame, runs: pl.LazyFrame) -> pl.LazyFrame:
    """Return the axis that the printed members of a group differ along, or null."""
    printed = pl.col("group_id").str.extract(r"\[([\d,]*)").str.strip_chars(",")
    members = (
        groups.with_columns(rank=printed.str.split(","))
        .explode("rank")
        .with_columns(pl.col("rank").cast(pl.Int64, strict=False))
        .filter(pl.col("rank").is_not_null())
    )
    whole = ~pl.col("group_id").str.contains("...", literal=True)
    positions = [f"{axis}_rank" for axis in (*AXES, "ep")]
    seen = (
        place_in_layout(members, runs)
        .group_by(*_GROUP, "size", "exchanges")
        .agg(
            pl.col(positions).n_unique(),
            known=pl.col("tp_rank").is_not_null().all(),
            counted=pl.when(whole.all()).then(pl.len().cast(pl.Int64)),
        )
        .filter("known")
        .with_columns(size=pl.coalesce("size", "counted"))
    )
    sizes = runs.select("run_id", *AXES, "ep")
    varies = {axis: pl.col(f"{axis}_rank") > 1 for axis in AXES}
    return (
        seen.join(sizes, on="run_id")
        .with_columns(inferred=_axis(varies))
        .select(*_GROUP, "inferred")
    )


def _axis(varies: dict[str, pl.Expr]) -> pl.Expr:
    """Return the axis by which positions differ and how many members there are."""
    size, replicas = pl.col("size"), pl.col("cp") * pl.col("dp")
    count = pl.sum_horizontal(one.cast(pl.Int32) for one in varies.values())
    along = {
        axis: varies[axis] & (count == 1) & (size == pl.col(axis)) for axis in AXES
    }
    only_replicas = (count > 0) & ~(varies["tp"] | varies["pp"])
    everyone = replicas * pl.col("tp") * pl.col("pp")
    dense = pl.coalesce(
        *[pl.when(is_it).then(pl.lit(axis)) for axis, is_it in along.items()],
        pl.when(size == everyone).then(pl.lit(WORLD)),
        pl.when(only_replicas & (size == replicas)).then(pl.lit("dp")),
    )
    experts, positions = pl.col("ep"), pl.col("ep_rank")
    spread = only_replicas & (experts > 1)
    each_once = spread & (size == experts) & (positions == experts)
    copies = spread & (size == replicas // experts) & (positions == 1)
    # one set of members may be both: the group that only exchanges is that of experts
    return (
        pl.when(each_once & (dense.is_null() | pl.col("exchanges")))
        .then(pl.lit("ep"))
        .otherwise(pl.coalesce(dense, pl.when(copies).then(pl.lit("dp"))))
    )
