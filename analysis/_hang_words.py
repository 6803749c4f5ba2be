"""Findings about a hang in words."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import polars as pl

from analysis._hang_dumps import HANG
from analysis._hang_graph import MOST
from analysis._hang_suspects import place_words, short_group
from ingest.phrases import phrase

#: What began a hang, by the rules that its candidates broke; the first that fits.
_KINDS: Final = (
    ("wrong_collective", ("other_kind",)),
    ("wrong_size", ("other_size", "other_dtype")),
    ("rank_dead", ("no_dump",)),
    ("group_starved", ("never_sent", "never_received")),
)


#: What a candidate did, by its rule: a sentence, and the columns that fill it.
_CANDIDATES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "never_entered": ("never entered {}, where {}{}", "place", "stand", "asked"),
        "stands_elsewhere": (
            "is not at {}, where {} (it asked for that; its GPU has not reached it)",
            "place",
            "stand",
        ),
        "never_sent": ("never sent what rank {} waits for", "waiting"),
        "never_received": ("never took what rank {} sends", "waiting"),
        "no_dump": (
            "left no dump, and may not be at {}, where {}{}",
            "place",
            "stand",
            "instead",
        ),
        "no_dump_either": ("left no dump either, and nobody waits for it directly",),
        "asked_less": (
            "asked for {} collectives of {}, where another asked for {}",
            "sequence",
            "group",
            "less_most",
        ),
        "other_kind": (
            "entered {} as number {} of group {}, others another kind",
            "did_kind",
            "sequence",
            "group",
        ),
        "other_size": (
            "entered {} with {} B, others with another size",
            "place",
            "did_bytes",
        ),
        "other_dtype": (
            "entered {} as {}, others as another type",
            "place",
            "did_dtype",
        ),
        "finished_alone": ("alone left {}, where {}", "place", "stand"),
        "others_finished": ("never finished {}, which others did", "place"),
        "left_open": (
            "has open what others finished with it, and is not at {}, where {}",
            "place",
            "stand",
        ),
        "not_started": ("never started {}, which others did", "place"),
        "stuck_together": ("stands at {} with all others, none done", "place"),
    }
)

#: What all other ranks do, by their role.
_OTHERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "blocked": ("waits in {} for {}", "place", "awaits"),
        "no_dump": ("left no dump",),
        "elsewhen": ("went on after its dump was taken",),
        "idle": ("has nothing open, and nobody waits for it",),
    }
)


def with_evidence(suspects: pl.DataFrame) -> pl.DataFrame:
    """Add why each rank has its role, in words.

    Args:
        suspects: Rows of `suspects_of`.
    """
    last = phrase(" (it asked for {} {} last)", "last_kind", "last_sequence")
    empty = pl.when(pl.col("entries") == 0).then(pl.lit(" (its buffer is empty)"))
    # ranks of an all-to-all have sizes of their own: a wrong one shows in none of them
    instead = pl.when(pl.col("kind") == "alltoall").then(
        pl.lit(", unless one there entered a wrong size")
    )
    rows = suspects.with_columns(
        place=place_words(),
        instead=pl.coalesce(instead, pl.lit("")),
        group=short_group(),
        stand=_ranks(pl.col("here")),
        asked=pl.coalesce(last, empty, pl.lit("")),
    )
    role = pl.col("role")
    told = [
        _said(role == "candidate", "rule", rule, *_CANDIDATES[rule])
        for rule in _CANDIDATES
    ]
    told += [
        _said(pl.lit(value=True), "role", name, *_OTHERS[name]) for name in _OTHERS
    ]
    open_ = phrase("waits in {}; for whom is not known", "place")
    told += [
        pl.when(role == "blocked").then(open_),
        pl.lit("waits, and its dump does not tell where"),
    ]
    return rows.with_columns(evidence=pl.coalesce(told)).drop(
        "place", "group", "stand", "asked", "instead"
    )


def _said(
    test: pl.Expr, column: str, value: str, template: str, *parts: str
) -> pl.Expr:
    return pl.when(test & (pl.col(column) == value)).then(phrase(template, *parts))


def _ranks(count: pl.Expr) -> pl.Expr:
    number = count.cast(pl.String)
    one = pl.when(count == 1).then(pl.lit("1 rank stands"))
    return pl.coalesce(one, phrase("{} ranks stand", number))


def kind_of() -> pl.Expr:
    """Return what began the hang, from the rules of its candidates (a list)."""
    rules = pl.col("rules")
    named = [
        pl.when(
            pl.any_horizontal(*[rules.list.contains(rule) for rule in broken])
        ).then(pl.lit(kind))
        for kind, broken in _KINDS
    ]
    known = pl.col("candidates_count").is_between(1, MOST)
    kind = pl.coalesce(*named, pl.lit("rank_stuck"))
    return pl.when(known).then(kind).otherwise(pl.lit("undecided"))


def verdicts(suspects: pl.DataFrame) -> pl.DataFrame:
    """Return the candidates of each hang with what they did, in one sentence."""
    named = suspects.filter("is_candidate").sort(*HANG, "rank")
    ranks = pl.col("rank").cast(pl.String)
    alike = named.group_by(*HANG, "evidence", maintain_order=True).agg(
        who=ranks.str.join(", "), count=pl.len()
    )
    noun = pl.when(pl.col("count") > 1).then(pl.lit("ranks")).otherwise(pl.lit("rank"))
    words = phrase("{} {}: {}", noun, "who", "evidence")
    return (
        alike.with_columns(words=words)
        .group_by(HANG, maintain_order=True)
        .agg(named=pl.col("words").str.join("; "))
    )
