"""What is known of each rank of a hang: candidates, blocked ones, the rest."""

from typing import Final

import polars as pl

from analysis._hang_awaited import OWN
from analysis._hang_dumps import HANG, RANK
from analysis._hang_operations import Operations
from analysis._hang_progress import Progress
from ingest.phrases import phrase

#: Share of the ranks that must have left a dump before one without is suspected: where
#: most are missing, nobody gathered them.
LEAST_SEEN: Final = 0.5

#: Characters of the name of a group that are shown.
_LONGEST: Final = 36

#: Ranks that are listed one by one.
_SHOWN: Final = 8

#: What an operation is, for rules and for what a rank did last.
_OPERATION: Final = ("group_id", "parallel_kind", "kind", "sequence", "bytes_total")


def suspects_of(
    roots: pl.DataFrame,
    found: Operations,
    dumps: pl.DataFrame,
    expected: pl.DataFrame,
    progress: Progress,
) -> pl.DataFrame:
    """Return one row per rank that holds up others, waits, or left no dump.

    Args:
        roots: Rows of `roots_with_behind`, with those of `behind_of`.
        found: Operations, who stands at them and whom they wait for.
        dumps: Rows of `dumps_of`, with `is_elsewhen`.
        expected: Every rank of the hang.
        progress: How far ranks got.
    """
    everyone = expected.join(dumps, on=RANK, how="left")
    seen = pl.col("dump_id").is_not_null().mean().over(HANG) >= LEAST_SEEN
    is_root = pl.col("is_root").is_not_null()
    rows = everyone.join(
        roots.with_columns(is_root=pl.lit(value=True)), on=RANK, how="left"
    ).with_columns(may=seen | pl.col("dump_id").is_not_null())
    rows = rows.with_columns(is_candidate=(is_root & pl.col("may")))
    held = _awaited_most(found).with_columns(is_held=pl.lit(value=True))
    waits = _waiting(found)
    candidates = rows.filter("is_candidate").join(held, on=RANK, how="left")
    candidates = _explained(candidates)
    others = rows.filter(~pl.col("is_candidate")).join(waits, on=RANK, how="left")
    every = pl.concat([candidates, others], how="diagonal_relaxed")
    told = every.join(_last_done(progress), on=RANK, how="left")
    return _named(told).sort(*HANG, "order", "rank")


def _explained(candidates: pl.DataFrame) -> pl.DataFrame:
    """Give candidates that nobody waits for the rule that makes them one."""
    has_rule, is_gone = pl.col("rule").is_not_null(), pl.col("dump_id").is_null()
    other = (
        pl.when(is_gone).then(pl.lit("no_dump_either")).otherwise(pl.lit("asked_less"))
    )
    less = {"group_id": "group", "parallel_kind": "kind", "sequence": "number"}
    filled = {
        name: pl.when(has_rule | is_gone).then(name).otherwise(f"less_{part}")
        for name, part in less.items()
    }
    return candidates.with_columns(rule=pl.coalesce("rule", other), **filled)


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    has_dump = pl.col("dump_id").is_not_null()
    role = (
        pl.when("is_candidate")
        .then(pl.lit("candidate"))
        .when(~has_dump)
        .then(pl.lit("no_dump"))
        .when(pl.col("is_elsewhen").fill_null(value=False))
        .then(pl.lit("elsewhen"))
        .when(pl.col("group_id").is_not_null())
        .then(pl.lit("blocked"))
        .otherwise(pl.lit("idle"))
    )
    named = rows.with_columns(role=role)
    first = pl.col("is_candidate").cast(pl.Int8) * -1
    sort = [first, -pl.col("waiting_count").fill_null(0), pl.col("rank")]
    order = pl.struct(sort[0].alias("a"), sort[1].alias("b"), "rank").rank("ordinal")
    rule = pl.when(pl.col("role") == "no_dump").then(pl.lit("no_dump"))
    return named.with_columns(
        rule=pl.when("is_candidate").then("rule").otherwise(rule),
        order=order.over(HANG).cast(pl.Int32) - 1,
    )


def _awaited_most(found: Operations) -> pl.DataFrame:
    """Return, for each rank that is waited for, where most others wait for it."""
    places = found.operations.select("operation", "is_p2p", *_OPERATION, waiting="rank")
    standing = found.standing.group_by("operation").agg(
        standing=pl.len().cast(pl.Int64)
    )
    mine = found.standing.select("operation", *RANK, mine=pl.lit(1, pl.Int64))
    rows = (
        found.awaited.join(places, on="operation")
        .join(standing, on="operation", how="left")
        .join(mine, on=("operation", *RANK), how="left")
        .with_columns(
            here=pl.col("standing").fill_null(0) - pl.col("mine").fill_null(0),
            is_own=pl.col("rule").is_in(OWN),
        )
        .with_columns(waiting_count=pl.col("here").sum().over(RANK))
    )
    order = [True, True, False]
    ranked = rows.sort(
        [*RANK, "is_own", "here", "operation"], descending=[False] * 3 + order
    )
    return ranked.unique(RANK, keep="first", maintain_order=True).drop(
        "is_own", "mine", "operation"
    )


def _waiting(found: Operations) -> pl.DataFrame:
    """Return, for each rank that waits, where, and for whom."""
    named = pl.col("rank").cast(pl.String).sort_by("rank")
    more = phrase(" and {} more", (pl.len() - _SHOWN).cast(pl.String))
    some = found.awaited.group_by("operation").agg(
        awaits=pl.concat_str(
            pl.when(pl.len() == 1).then(pl.lit("rank ")).otherwise(pl.lit("ranks ")),
            named.head(_SHOWN).str.join(", "),
            pl.when(pl.len() > _SHOWN).then(more).otherwise(pl.lit("")),
        )
    )
    places = found.operations.select("operation", "is_p2p", *_OPERATION)
    rows = (
        found.standing.join(places, on="operation")
        .join(some, on="operation", how="left")
        .with_columns(is_open=pl.col("awaits").is_null())
        .sort(*RANK, "is_open", ~pl.col("is_weak"), "operation")
    )
    told = rows.unique(RANK, keep="first", maintain_order=True)
    return told.select(*RANK, "is_p2p", *_OPERATION, "awaits")


def _last_done(progress: Progress) -> pl.DataFrame:
    """Return what each rank asked for last."""
    last = pl.col("event") == pl.col("event").max()
    number = pl.coalesce("sequence", "p2p_sequence")
    return (
        progress.entries.group_by(RANK)
        .agg(
            last_group_id=pl.col("group_id").filter(last).min(),
            last_kind=pl.col("kind").filter(last).min(),
            last_sequence=number.filter(last).min(),
            last_state=pl.col("state").filter(last).min(),
        )
        .collect(engine="streaming")
    )


def place_words() -> pl.Expr:
    """Return the operation of a row in words."""
    kind = pl.col("kind").fill_null("collective")
    group = pl.coalesce(
        phrase("{} group {}", "parallel_kind", short_group()),
        phrase("group {}", short_group()),
    )
    number = pl.coalesce(phrase(" {}", pl.col("sequence").cast(pl.String)), pl.lit(""))
    return phrase("{}{} of {}", kind, number, group)


def short_group() -> pl.Expr:
    """Return the name of a row's group, of many members the first ones only."""
    whole = pl.col("group_id")
    first = whole.str.extract(r"^(.{0,24}?:\[(?:[0-9]+,){3})")
    cut = pl.coalesce(phrase("{}...]", first), whole.str.slice(0, _LONGEST))
    return pl.when(whole.str.len_chars() > _LONGEST).then(cut).otherwise(whole)
