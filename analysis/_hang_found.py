"""Hangs that dumps tell of."""

import dataframely as dy
import polars as pl

from analysis._hang_aborts import without_aborts
from analysis._hang_behind import behind_of, roots_with_behind
from analysis._hang_dumps import HANG, RANK, dumps_of, entries_of, statuses_of
from analysis._hang_graph import MOST, depths_of, roots_of
from analysis._hang_heads import heads_of
from analysis._hang_members import expected_of, members_of
from analysis._hang_missing import roots_with_missing
from analysis._hang_moments import mark_moments, shares_a_moment
from analysis._hang_operations import Operations, operations_of
from analysis._hang_progress import progress_of
from analysis._hang_result import Found
from analysis._hang_suspects import suspects_of
from analysis._hang_words import kind_of, verdicts, with_evidence
from ingest.phrases import phrase
from ingest.tables import Collectives, GroupStatus


def hangs_in_dumps(
    collectives: dy.LazyFrame[Collectives], statuses: dy.LazyFrame[GroupStatus]
) -> Found:
    """Find the hangs that dumps tell of.

    Args:
        collectives: What dumps hold of collectives, sends and receives.
        statuses: How far ranks got in their groups.
    """
    entries, told = entries_of(collectives), statuses_of(statuses)
    dumps = dumps_of(told, entries)
    if dumps.is_empty():
        return Found()
    progress = without_aborts(progress_of(dumps, told, entries), dumps)
    dumps = mark_moments(dumps, progress)
    heads = heads_of(progress)
    waiting = heads.select(HANG).unique()
    if waiting.is_empty():
        return Found()
    members = members_of(progress.counts.select(*HANG, "group_id", "rank"))
    usable = dumps.filter(~pl.col("is_elsewhen") & shares_a_moment())
    heads = heads.join(usable, on=RANK, how="semi")
    operations = operations_of(heads, members, dumps, progress)
    ranks = pl.concat([members.select(RANK), dumps.select(RANK)])
    expected = expected_of(ranks).join(waiting, on=HANG, how="semi")
    roots = roots_of(operations, progress.counts)
    roots = roots_with_missing(roots, expected, dumps)
    behind = behind_of(progress.counts, dumps.filter(shares_a_moment()))
    roots = roots_with_behind(roots, behind, operations, dumps)
    roots = roots.join(behind, on=RANK, how="left")
    suspects = suspects_of(roots, operations, dumps, expected, progress)
    depths = depths_of(operations, roots)
    suspects = suspects.join(depths, on=RANK, how="left", maintain_order="left")
    depth = (
        pl.when("is_candidate").then(pl.col("depth").fill_null(0)).otherwise("depth")
    )
    suspects = suspects.with_columns(depth=depth)
    suspects = _limited(with_evidence(suspects))
    hangs = _hangs(suspects, operations)
    return Found(_named(hangs), _named(suspects), _named(_waits(operations, suspects)))


def _limited(suspects: pl.DataFrame) -> pl.DataFrame:
    """Name nobody where more than MOST fit the evidence: count them only."""
    fits = pl.col("is_candidate").cast(pl.Int64).sum().over(HANG)
    named = pl.col("is_candidate") & (fits <= MOST)
    return suspects.with_columns(fits=fits, is_candidate=named)


def _hangs(suspects: pl.DataFrame, operations: Operations) -> pl.DataFrame:
    role = pl.col("role")
    count = {
        name: (role == name).cast(pl.Int64).sum() for name in ("blocked", "elsewhen")
    }
    has_dump = pl.col("dump_id").is_not_null()
    groups = operations.operations.group_by(HANG).agg(
        stuck_groups=pl.col("group_id").drop_nulls().n_unique().cast(pl.Int64)
    )
    rows = suspects.group_by(HANG).agg(
        first_ns=pl.col("last_ns").min(),
        last_ns=pl.col("last_ns").max(),
        ranks_expected=pl.len().cast(pl.Int64),
        ranks_seen=has_dump.cast(pl.Int64).sum(),
        ranks_missing=(~has_dump).cast(pl.Int64).sum(),
        ranks_elsewhen=count["elsewhen"],
        ranks_waiting=count["blocked"],
        candidates_count=pl.col("fits").first(),
        rules=pl.col("rule").filter("is_candidate"),
    )
    counted = rows.join(groups, on=HANG, how="left")
    told = counted.join(verdicts(suspects), on=HANG, how="left").with_columns(
        pl.col("stuck_groups").fill_null(0)
    )
    return told.with_columns(kind=kind_of(), verdict=_verdict(), source=pl.lit("dumps"))


def _verdict() -> pl.Expr:
    waiting = pl.col("ranks_waiting")
    missing = phrase(
        "dumps of {} of {} ranks: too few to say whom they wait for",
        "ranks_seen",
        "ranks_expected",
    )
    moments = phrase(
        "dumps of different moments ({} of {} ranks went on after theirs): no hang is"
        " shown",
        "ranks_elsewhen",
        "ranks_seen",
    )
    many = phrase("{} ranks fit the evidence, too many to name any", "candidates_count")
    nobody = phrase("{} ranks wait, and nothing tells for whom in the end", waiting)
    return (
        pl.when(pl.col("named").is_not_null())
        .then("named")
        .when(pl.col("candidates_count") > 0)
        .then(many)
        .when(waiting == 0)
        .then(moments)
        .when(pl.col("ranks_seen") * 2 < pl.col("ranks_expected"))
        .then(missing)
        .otherwise(nobody)
    )


def _waits(found: Operations, suspects: pl.DataFrame) -> pl.DataFrame:
    columns = ("group_id", "parallel_kind", "kind", "is_p2p", "sequence")
    told = found.operations.filter(pl.col("group_id").is_not_null())
    sides = [
        found.standing.select("operation", *RANK, role=pl.lit("waits")),
        found.awaited.select("operation", *RANK, "rule", role=pl.lit("awaited")),
    ]
    rows = pl.concat(sides, how="diagonal_relaxed").join(
        told.select("operation", *columns), on="operation"
    )
    return rows.join(suspects.select(*RANK, "is_candidate"), on=RANK)


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    name = phrase("dump {}", pl.col("hang").cast(pl.String))
    position = {"position": pl.col("order")} if "order" in rows.columns else {}
    return rows.with_columns(hang_id=name, **position)
