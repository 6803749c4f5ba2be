"""Findings about a hang in words."""

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
    (
        "rank_stuck",
        (
            "never_entered",
            "others_finished",
            "finished_alone",
            "not_started",
            "left_open",
        ),
    ),
    ("group_starved", ("never_sent", "never_received", "stands_elsewhere")),
)


def evidence() -> pl.Expr:
    """Return why a row of `suspects_of` has its role, in words."""
    place, here = place_words(), _ranks(pl.col("here"))
    rule, role = pl.col("rule"), pl.col("role")
    entered = pl.coalesce(
        phrase(" (it asked for {} {} last)", "last_kind", "last_sequence"),
        pl.when(pl.col("entries") == 0).then(pl.lit(" (its buffer is empty)")),
        pl.lit(""),
    )
    said = {
        "never_entered": phrase("never entered {}, where {}{}", place, here, entered),
        "stands_elsewhere": phrase("is not at {}, where {}{}", place, here, entered),
        "never_sent": phrase("never sent what rank {} waits for", "waiting"),
        "never_received": phrase("never took what rank {} sends", "waiting"),
        "no_dump": phrase("left no dump, and may not be at {}, where {}", place, here),
        "other_kind": phrase(
            "entered {} as number {} of group {}, others another kind",
            "did_kind",
            "sequence",
            short_group(),
        ),
        "other_size": phrase(
            "entered {} with {} B, others with another size", place, "did_bytes"
        ),
        "other_dtype": phrase(
            "entered {} as {}, others as another type", place, "did_dtype"
        ),
        "finished_alone": phrase("alone left {}, where {}", place, here),
        "others_finished": phrase("never finished {}, which others did", place),
        "left_open": phrase(
            "has open what others finished with it, and is not at {}, where {}",
            place,
            here,
        ),
        "not_started": phrase("never started {}, which others did", place),
        "stuck_together": phrase("stands at {} with all others, none done", place),
    }
    blocked = phrase("waits in {} for rank {}", place, "awaits")
    told = [pl.when(role == "blocked").then(pl.coalesce(blocked, _unknown(place)))]
    told += [
        pl.when((role == "candidate") & (rule == name)).then(words)
        for name, words in said.items()
    ]
    rest = {
        "no_dump": "left no dump",
        "elsewhen": "went on after its dump was taken",
        "idle": "has nothing open, and nobody waits for it",
        "blocked": "waits, and the dump does not tell where",
    }
    told += [pl.when(role == name).then(pl.lit(words)) for name, words in rest.items()]
    return pl.coalesce(told)


def _unknown(place: pl.Expr) -> pl.Expr:
    return phrase("waits in {}; for whom is not known", place)


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
    together = pl.when(rules.list.len() > 0).then(pl.lit("rank_stuck"))
    known = pl.col("candidates_count").is_between(1, MOST)
    return (
        pl.when(known)
        .then(pl.coalesce(*named, together))
        .otherwise(pl.lit("undecided"))
    )


def verdicts(suspects: pl.DataFrame) -> pl.DataFrame:
    """Return the candidates of each hang with what they did, in one sentence."""
    named = suspects.filter("is_candidate").sort(*HANG, "rank")
    ranks = pl.col("rank").cast(pl.String)
    alike = named.group_by(*HANG, "evidence", maintain_order=True).agg(
        who=ranks.str.join(", "), count=pl.len()
    )
    noun = pl.when(pl.col("count") > 1).then(pl.lit("ranks")).otherwise(pl.lit("rank"))
    words = phrase("{} {} {}", noun, "who", "evidence")
    return (
        alike.with_columns(words=words)
        .group_by(HANG, maintain_order=True)
        .agg(named=pl.col("words").str.join("; "))
    )
