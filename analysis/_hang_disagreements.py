"""Ranks that entered something else than the others under the same number."""

from typing import Final

import polars as pl

from analysis._hang_members import GROUP

#: Kinds whose message has the same size on every rank. Of an all-to-all of experts each
#: rank has its own; of a gather or scatter only the root has all.
SAME_SIZE: Final = ("allreduce", "allgather", "reducescatter", "broadcast", "reduce")

#: What ranks may differ in, the first that they do, and the rule that it breaks.
_SIDES: Final = (
    ("kind", "other_kind"),
    ("bytes_total", "other_size"),
    ("dtype", "other_dtype"),
)

_INSTANCE: Final = (*GROUP, "sequence")


def disagreements_of(operations: pl.DataFrame, entries: pl.LazyFrame) -> pl.DataFrame:
    """Return ranks in the minority; all, where no value has the most votes.

    Args:
        operations: Collectives: `operation`, its group and `sequence`.
        entries: What dumps hold.

    Returns:
        `operation`, `rank`, `differs` (the rule that is broken), and what it entered:
        `did_kind`, `did_bytes`, `did_dtype`.
    """
    asked = operations.select("operation", *_INSTANCE).lazy()
    votes = entries.join(asked, on=_INSTANCE).select(
        "operation", "rank", "kind", "bytes_total", "dtype"
    )
    rows = votes.collect(engine="streaming").sort(pl.all())
    sized = pl.col("kind").is_in(SAME_SIZE).all().over("operation")
    rows = rows.with_columns(bytes_total=pl.when(sized).then("bytes_total"))
    for name, _ in _SIDES:
        rows = _with_minority(rows, name)
    broken = [
        pl.when(pl.col(f"less_{name}").any().over("operation")).then(
            pl.when(f"less_{name}").then(pl.lit(rule)).otherwise(pl.lit(""))
        )
        for name, rule in _SIDES
    ]
    judged = rows.select(
        "operation",
        "rank",
        differs=pl.coalesce(broken),
        did_kind="kind",
        did_bytes="bytes_total",
        did_dtype="dtype",
    )
    return judged.filter(pl.col("differs") != "").unique(
        ("operation", "rank"), keep="first", maintain_order=True
    )


def _with_minority(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Add `less_<name>`: whether fewer ranks have the row's value than another."""
    value, votes = pl.col(name), pl.col("votes")
    voted = rows.with_columns(
        votes=pl.when(value.is_not_null()).then(pl.len().over("operation", name))
    ).with_columns(most=votes.max().over("operation"))
    leaders = value.filter(votes == pl.col("most")).n_unique().over("operation")
    several = value.drop_nulls().n_unique().over("operation") > 1
    is_less = (votes < pl.col("most")) | (leaders > 1)
    is_told = (several & is_less).fill_null(value=False)
    return voted.with_columns(is_told.alias(f"less_{name}")).drop("votes", "most")
