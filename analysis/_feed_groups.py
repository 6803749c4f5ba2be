"""What the ranks of a replica were given: one batch for all of them, or not."""

from typing import Final, NamedTuple

import polars as pl

from analysis._feed_rows import BATCH, SIZES, STEP

#: A replica in a step.
REPLICA: Final = (*STEP, "replica")

_SLICE: Final = (*REPLICA, "cp_rank", "pp_rank")


class Given(NamedTuple):
    """What replicas were given in the steps of a portion.

    Attributes:
        batches: A row per batch of a replica that its ranks agree on: REPLICA, rank
            (the least that read it), BATCH and SIZES.
        rows: The same by rank.
        disputed: Replicas whose ranks disagree: REPLICA, ranks (those in the
            minority, all where there is none), is_settled (whether most agree).
    """

    batches: pl.DataFrame
    rows: pl.DataFrame
    disputed: pl.DataFrame


def given(rows: pl.DataFrame) -> Given:
    """Bring the ranks of each replica together.

    Ranks of a replica read the same samples. Hashes are compared within a
    tensor-parallel group alone: context ranks hold other parts of the same documents,
    and pipeline stages may take labels where others take tokens. A rank without rows
    disagrees with nobody: many loaders read on one rank and send to the others.

    Args:
        rows: A portion of reads.
    """
    told = rows.unique([*REPLICA, "rank", *BATCH])
    one_rank = told.select(REPLICA).is_duplicated().not_().all()
    if one_rank or told["rank"].null_count() == told.height:
        return Given(_batches(told), told, _nobody(told))
    of_ranks = _signatures(told, REPLICA)
    disputed = _disputed(of_ranks, _hash_signatures(told))
    agreed = _agreed(told, of_ranks, disputed)
    return Given(_batches(agreed), agreed, disputed)


def _signatures(told: pl.DataFrame, by: tuple[str, ...]) -> pl.DataFrame:
    """Return one number for all that a rank read: equal where batches are."""
    unhashed = pl.when(pl.col("first").is_null()).then("batch_hash")
    piece = pl.struct("dataset", "epoch", "first", "after", unhashed).hash()
    known = pl.col("first").is_not_null() | pl.col("batch_hash").is_not_null()
    replicas = told.filter(known & pl.col("replica").is_not_null())
    return replicas.group_by(*by, "rank").agg(signature=piece.unique().sum())


def _hash_signatures(told: pl.DataFrame) -> pl.DataFrame:
    hashed = pl.col("batch_hash").is_not_null() & pl.col("tp_rank").is_not_null()
    known = told.filter(hashed & pl.col("replica").is_not_null())
    return known.group_by(*_SLICE, "rank").agg(
        signature=pl.col("batch_hash").hash().unique().sum()
    )


def _disputed(ranges: pl.DataFrame, hashes: pl.DataFrame) -> pl.DataFrame:
    """Return the replicas whose ranks read different batches."""
    of_ranges = _dissent(ranges, REPLICA)
    of_hashes = _dissent(hashes, _SLICE).select(of_ranges.columns)
    # what ranges tell of a replica, hashes would tell again
    alone = of_hashes.join(of_ranges, on=list(REPLICA), how="anti", nulls_equal=True)
    both = pl.concat([of_ranges, alone]).group_by(REPLICA)
    told = both.agg(
        pl.col("ranks").explode().unique().sort(), pl.col("is_settled").all()
    )
    return told.sort(REPLICA)


def _dissent(of_ranks: pl.DataFrame, by: tuple[str, ...]) -> pl.DataFrame:
    differ = pl.col("signature").n_unique().over(by) > 1
    apart = of_ranks.filter(differ)
    votes = apart.with_columns(votes=pl.len().over(*by, "signature"))
    voters = votes.with_columns(
        most=pl.col("votes").max().over(by), all=pl.len().over(by)
    )
    is_settled = pl.col("most") * 2 > pl.col("all")
    blamed = voters.filter(~is_settled | (pl.col("votes") < pl.col("most")))
    return blamed.group_by(by).agg(
        ranks=pl.col("rank").unique().sort(), is_settled=is_settled.first()
    )


def _agreed(
    told: pl.DataFrame, of_ranks: pl.DataFrame, disputed: pl.DataFrame
) -> pl.DataFrame:
    """Leave out ranks in the minority, and replicas that nothing settles."""
    settled, open_ones = (
        disputed.filter("is_settled"),
        disputed.filter(~pl.col("is_settled")),
    )
    outvoted = settled.explode("ranks").select(*REPLICA, rank="ranks")
    kept = told.join(outvoted, on=[*REPLICA, "rank"], how="anti", nulls_equal=True)
    return kept.join(open_ones, on=list(REPLICA), how="anti", nulls_equal=True)


def _batches(told: pl.DataFrame) -> pl.DataFrame:
    """Collapse the ranks of a replica that read the same batch."""
    sizes = [pl.col(name).max() for name in SIZES]
    return told.group_by(*REPLICA, *BATCH).agg(pl.col("rank").min(), *sizes)


def _nobody(told: pl.DataFrame) -> pl.DataFrame:
    schema = {name: told.schema[name] for name in REPLICA}
    return pl.DataFrame(
        schema={**schema, "ranks": pl.List(pl.Int32), "is_settled": pl.Boolean}
    )
