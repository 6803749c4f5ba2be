"""Ranks without a dump among the roots of a hang."""

import polars as pl

from analysis._hang_dumps import HANG, RANK
from analysis._hang_graph import MOST


def roots_with_missing(
    roots: pl.DataFrame, expected: pl.DataFrame, dumps: pl.DataFrame
) -> pl.DataFrame:
    """Return the roots, with all ranks that left no dump or with none of them.

    Where only ranks without a dump explain a wait, any other that left none may have
    gone with them, as all of a dead node do: all are meant if they are MOST or fewer.
    Where more than MOST roots are left and some of them left a dump, those without one
    go: their dumps may just be lost.

    Args:
        roots: Rows of `roots_of`.
        expected: Every rank of the hang.
        dumps: Rows of `dumps_of`.

    Returns:
        `run_id`, `hang`, `rank`, `is_mutual`, `is_gone`: whether it left no dump.
    """
    missing = expected.join(dumps, on=RANK, how="anti").select(RANK)
    gone = missing.with_columns(is_gone=pl.lit(value=True))
    rows = roots.join(gone, on=RANK, how="left").with_columns(
        pl.col("is_gone").fill_null(value=False)
    )
    many = pl.len().over(HANG) > MOST
    some = (~pl.col("is_gone")).any().over(HANG)
    left = rows.filter(~(many & some & pl.col("is_gone")))
    alone = left.group_by(HANG).agg(all_gone=pl.col("is_gone").all())
    few = missing.filter(pl.len().over(HANG) <= MOST)
    added = few.join(alone.filter("all_gone"), on=HANG, how="semi").join(
        left, on=RANK, how="anti"
    )
    no, yes = pl.lit(value=False), pl.lit(value=True)
    every = [left, added.with_columns(is_mutual=no, is_gone=yes)]
    return pl.concat(every).sort(RANK)
