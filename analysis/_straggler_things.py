"""What can be slow: a GPU, a replica, a host, a rack, a stage."""

from typing import Final

import polars as pl

from ingest.phrases import phrase

RANK: Final = ("run_id", "attempt", "rank")
NAME: Final = ("run_id", "scope", "scope_id")

#: Parts that make a whole: a host of one GPU is that GPU.
MIN_PARTS: Final = 2


def cover_ranks(
    ranks: pl.DataFrame, seats: pl.DataFrame, min_peers: int
) -> pl.DataFrame:
    """Return which things each rank belongs to.

    A host or rack is one where it has parts, and GPUs elsewhere to compare them with.
    It is tested by itself where it has others of its kind.

    Args:
        ranks: Ranks that were compared: run, attempt, rank, `unit_scope` and `unit`.
        seats: Where ranks sit.
        min_peers: Others of its kind that a tested thing must have. [1]

    Returns:
        Columns of RANK and NAME, `is_tested`, and `thing`, the number of the name.
    """
    seated = ranks.join(seats, on=list(RANK), how="left")
    unit = seated.select(*RANK, scope="unit_scope", scope_id=_unit_id())
    wholes = [
        _whole(seated.with_columns(part=_unit_id()), scope, min_peers)
        for scope in ("host", "rack")
    ]
    stages = seated.filter(pl.col("pp_rank").is_not_null()).select(
        *RANK, scope=pl.lit("stage"), scope_id=pl.col("pp_rank").cast(pl.String)
    )
    is_tested = pl.col("is_tested").fill_null(value=True)
    covered = pl.concat([unit, *wholes, stages], how="diagonal").with_columns(is_tested)
    things = covered.select(NAME).unique().sort(NAME).with_row_index("thing")
    return covered.join(things, on=list(NAME))


def _unit_id() -> pl.Expr:
    """Name a unit for good: a UUID, else what is unique in its host, else its rank."""
    uuid = pl.col("gpu_uuid")
    is_unique = uuid.str.contains(r"^(GPU|MIG)-")
    gpu = pl.when(is_unique).then(uuid).otherwise(phrase("{} {}", "host", uuid))
    named = pl.coalesce(gpu, phrase("rank {}", "rank"))
    replica = pl.col("unit").cast(pl.String)
    return pl.when(pl.col("unit_scope") == "gpu").then(named).otherwise(replica)


def _whole(seated: pl.DataFrame, scope: str, min_peers: int) -> pl.DataFrame:
    units = seated.filter(pl.col("unit_scope") == "gpu")
    every = units.with_columns(every=pl.col("part").n_unique().over("run_id"))
    known = every.filter(pl.col(scope).is_not_null())
    parts = pl.col("part").n_unique().over("run_id", scope)
    elsewhere = pl.col("every").cast(pl.Int64) - parts.cast(pl.Int64)
    whole = known.filter((parts >= MIN_PARTS) & (elsewhere >= min_peers))
    peers = pl.col(scope).n_unique().over("run_id") - 1
    return whole.select(
        *RANK, scope=pl.lit(scope), scope_id=scope, is_tested=peers >= min_peers
    )


def blocks_of_things(
    ranks: pl.DataFrame, stages: pl.DataFrame, cover: pl.DataFrame
) -> pl.DataFrame:
    """Return each thing's blocks: the median of its ranks, or what its stage took.

    Args:
        ranks: Blocks of ranks.
        stages: Blocks of stages against each other.
        cover: Which things each rank belongs to.

    Returns:
        `thing`, `place` (the block's position in the run), `ratio`, `moment_first` and
        `moment_last` (its first and last step, with their attempt).
    """
    is_stage = pl.col("scope") == "stage"
    of_ranks = cover.filter(~is_stage).select(*RANK, "thing")
    stage = pl.col("scope_id").cast(pl.Int32)
    numbers = cover.filter(is_stage).select("run_id", "thing", stage=stage).unique()
    columns = ["thing", "place", "ratio", "moment_first", "moment_last"]
    found = ranks.join(of_ranks, on=list(RANK)).group_by("thing", "place")
    medians = found.agg(
        pl.col("ratio").median(),
        pl.col("moment_first").min(),
        pl.col("moment_last").max(),
    )
    own = stages.join(numbers, on=["run_id", "stage"])
    return pl.concat([medians.select(columns), own.select(columns)])


def parts_of(cover: pl.DataFrame, part: str, whole: str) -> pl.DataFrame:
    """Return which things of a scope are part of which of another."""
    parts = cover.filter(pl.col("scope") == part).select(*RANK, part="thing")
    wholes = cover.filter(pl.col("scope") == whole).select(*RANK, whole="thing")
    return parts.join(wholes, on=list(RANK)).select("part", "whole").unique()
