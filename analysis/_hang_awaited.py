"""Whom operations wait for, and the rule that each of those breaks."""

from typing import Final

import polars as pl

from analysis._hang_disagreements import disagreements_of
from analysis._hang_dumps import RANK
from analysis._hang_joint import JOINT
from analysis._hang_members import GROUP
from analysis._hang_progress import Progress

#: What a member of a group is to an operation.
STANDS: Final = "stands"
FINISHED: Final = "finished"
MISSING: Final = "missing"
UNKNOWN: Final = "unknown"
ELSEWHEN: Final = "elsewhen"

#: Rules that a rank breaks itself, whatever it waits for.
OWN: Final = (
    "other_kind",
    "other_size",
    "other_dtype",
    "finished_alone",
    "others_finished",
    "left_open",
)


def awaited_in_collectives(
    operations: pl.DataFrame,
    standing: pl.DataFrame,
    members: pl.DataFrame,
    dumps: pl.DataFrame,
    progress: Progress,
) -> pl.DataFrame:
    """Return the members that collectives wait for.

    Args:
        operations: What somebody stands at.
        standing: Who stands at each.
        members: Rows of `members_of`.
        dumps: Rows of `dumps_of`.
        progress: How far ranks got.

    Returns:
        `operation`, the rank, `rule`, what it did (`did_kind`, ...) and `is_own`.
    """
    ours = operations.filter(~pl.col("is_p2p")).drop("rank", "peer_rank")
    rows = ours.join(members, on=GROUP)
    weak = standing.filter("is_weak").select(RANK).unique().with_columns(is_unsure=True)
    who = standing.select("operation", "rank", "is_started", is_here=True)
    rows = (
        rows.join(who, on=("operation", "rank"), how="left")
        .join(weak, on=RANK, how="left")
        .join(_known(dumps), on=RANK, how="left")
        .join(
            progress.counts.select(*GROUP, "rank", "entered", "finished"),
            on=(*GROUP, "rank"),
            how="left",
        )
        .join(
            disagreements_of(ours, progress.entries),
            on=("operation", "rank"),
            how="left",
        )
    )
    placed = rows.with_columns(_role().alias("role"))
    return _awaited(placed)


def _role() -> pl.Expr:
    return (
        pl.when(pl.col("is_here").is_not_null())
        .then(pl.lit(STANDS))
        .when(pl.col("has_dump").is_null())
        .then(pl.lit(UNKNOWN))
        .when("is_elsewhen")
        .then(pl.lit(ELSEWHEN))
        .when(pl.col("finished") >= pl.col("sequence"))
        .then(pl.lit(FINISHED))
        .otherwise(pl.lit(MISSING))
    )


def _awaited(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the members that operations wait for, each with its rule."""
    role = pl.col("role")
    roles = (STANDS, FINISHED, MISSING, UNKNOWN, ELSEWHEN)
    count = {name: (role == name).sum().over("operation") for name in roles}
    joint = pl.col("kind").is_in(JOINT).fill_null(value=True)
    nobody = (count[MISSING] == 0) & (count[UNKNOWN] == 0)
    ended = (count[FINISHED] > 0) & (joint | nobody)
    few = count[FINISHED] < count[STANDS]
    differs, stands = pl.col("differs"), role == STANDS
    is_idle = stands & ~pl.col("is_started").fill_null(value=True)
    is_unsure = stands & pl.col("is_unsure").fill_null(value=False)
    is_unsure &= ~pl.col("is_started").fill_null(value=False)
    rule = (
        pl.when(differs.is_not_null().any().over("operation"))
        .then(pl.coalesce(differs, pl.when(role == MISSING).then(_absent())))
        .when(ended & few & joint)
        .then(pl.when(role == FINISHED).then(pl.lit("finished_alone")))
        .when(ended & ~few)
        .then(pl.when(stands).then(pl.lit("others_finished")))
        .when(count[MISSING] > 0)
        .then(pl.when(role == MISSING).then(_absent()))
        .when(_is_split(is_idle))
        .then(pl.when(is_idle).then(pl.lit("not_started")))
        .when(_is_split(is_unsure))
        .then(pl.when(is_unsure).then(pl.lit("stands_elsewhere")))
        .when(count[UNKNOWN] > 0)
        .then(pl.when(role == UNKNOWN).then(pl.lit("no_dump")))
        .when((count[ELSEWHEN] > 0) | is_unsure.any().over("operation"))
        .then(None)
        .otherwise(pl.when(stands).then(pl.lit("stuck_together")))
    )
    named = rows.with_columns(rule=rule).filter(pl.col("rule").is_not_null())
    own, did = pl.col("rule").is_in(OWN), ("did_kind", "did_bytes", "did_dtype")
    return named.select("operation", *RANK, "rule", *did, is_own=own)


def _is_split(test: pl.Expr) -> pl.Expr:
    """Whether a test holds for some that stand at an operation, and not for others."""
    others = (pl.col("role") == STANDS) & ~test
    return test.any().over("operation") & others.any().over("operation")


def _absent() -> pl.Expr:
    entered = pl.col("entered") >= pl.col("sequence")
    return (
        pl.when(entered.fill_null(value=False))
        .then(pl.lit("stands_elsewhere"))
        .otherwise(pl.lit("never_entered"))
    )


def awaited_in_pairs(operations: pl.DataFrame, dumps: pl.DataFrame) -> pl.DataFrame:
    """Return the other sides that sends and receives wait for.

    Args:
        operations: What somebody stands at.
        dumps: Rows of `dumps_of`.
    """
    ours = operations.filter("is_p2p").rename({"rank": "waiting", "peer_rank": "rank"})
    rule = (
        pl.when("is_elsewhen")
        .then(None)
        .when(pl.col("has_dump").is_null())
        .then(pl.lit("no_dump"))
        .when(pl.col("kind") == "send")
        .then(pl.lit("never_received"))
        .otherwise(pl.lit("never_sent"))
    )
    rows = ours.join(_known(dumps), on=RANK, how="left")
    told = rows.select("operation", *RANK, rule=rule, is_own=pl.lit(value=False))
    return told.filter(pl.col("rule").is_not_null())


def _known(dumps: pl.DataFrame) -> pl.DataFrame:
    return dumps.select(*RANK, "is_elsewhen", has_dump=True)
