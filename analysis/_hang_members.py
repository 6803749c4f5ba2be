"""Members of the groups of a hang."""

from typing import Final

import polars as pl

from analysis._hang_dumps import HANG, RANK

GROUP: Final = (*HANG, "group_id")

#: Members at the end of the name of a group: all, or the first and how many.
_MEMBERS: Final = r":\[([0-9,]*)(,\.\.\.)?\](?::x([0-9]{1,7}))?$"


def members_of(seen: pl.DataFrame) -> pl.DataFrame:
    """Return one row per group and member, whether it was seen or not.

    A large group names its first members and how many there are. Where those are evenly
    spaced, as axes of a layout are, the others follow; else only those seen are known.

    Args:
        seen: `run_id`, `hang`, `group_id` and `rank` of ranks that told of a group.

    Returns:
        `run_id`, `hang`, `group_id`, `rank`.
    """
    names = seen.select(GROUP).unique().with_columns(_told())
    evenly = _evenly(names)
    strange = seen.join(evenly, on=GROUP, how="semi").join(
        evenly, on=(*GROUP, "rank"), how="anti"
    )
    evenly = evenly.join(strange, on=GROUP, how="anti")
    listed = names.select(*GROUP, rank="listed").explode("rank", empty_as_null=False)
    every = [frame.select(*GROUP, "rank") for frame in (listed, evenly, seen)]
    return pl.concat(every).drop_nulls("rank").unique().sort(*GROUP, "rank")


def expected_of(members: pl.DataFrame) -> pl.DataFrame:
    """Return one row per hang and rank that any group names."""
    return members.select(RANK).unique().sort(RANK)


def _told() -> tuple[pl.Expr, ...]:
    part = [pl.col("group_id").str.extract(_MEMBERS, number) for number in (1, 2, 3)]
    listed = part[0].fill_null("").str.split(",")
    ranks = listed.list.eval(pl.element().cast(pl.Int32, strict=False).drop_nulls())
    return (
        ranks.alias("listed"),
        part[1].is_not_null().alias("is_cut"),
        part[2].cast(pl.Int64, strict=False).alias("size"),
    )


def _evenly(names: pl.DataFrame) -> pl.DataFrame:
    """Return the members of groups that name their first ones, evenly spaced."""
    first, steps = (
        pl.col("listed").list.first(),
        pl.col("listed").list.diff(null_behavior="drop"),
    )
    step = steps.list.first()
    is_even = (steps.list.n_unique() == 1) & (step > 0)
    cut = names.filter("is_cut" & is_even)
    last = first.cast(pl.Int64) + step.cast(pl.Int64) * (pl.col("size") - 1)
    ranks = pl.int_ranges(first.cast(pl.Int64), last + 1, step.cast(pl.Int64))
    spread = cut.select(*GROUP, rank=ranks).explode("rank", empty_as_null=False)
    return spread.with_columns(pl.col("rank").cast(pl.Int32, strict=False))
