"""What is at fault with a feed, in a sentence for each fault."""

from typing import Final

import polars as pl

from ingest.phrases import phrase

#: What a fault costs, by its kind.
COSTS: Final = {
    "given_twice": "share of the step's GPU time that its repeated samples are of its"
    " samples",
    "restart_repeats": "share of the step's GPU time that its repeated samples are of"
    " its samples",
    "ranks_disagree": "share of the step's GPU time that its replicas at odds are of"
    " all replicas",
    "left_out": "no GPU time is lost: the samples are not learned from",
    "restart_skips": "no GPU time is lost: the samples are not learned from",
}

#: Why the cost of a fault that has one is not known.
NO_LOG: Final = "not known: no step log tells how long the step took"
NO_SHARE: Final = "not known: nothing tells which share of the step it is"


def evidence() -> pl.Expr:
    """Return the evidence of a fault, from its columns."""
    samples = _samples()
    said = {
        "given_twice": _twice(samples),
        "restart_repeats": _repeated(samples),
        "left_out": _left_out(samples),
        "restart_skips": phrase(
            "attempt {} went on in step {} beyond {} that should have followed step {}",
            _text("attempt"),
            _text("step"),
            samples,
            _text("last_before"),
        ),
        "ranks_disagree": _at_odds(),
    }
    return pl.coalesce(
        pl.when(pl.col("kind") == kind).then(text) for kind, text in said.items()
    )


def _twice(samples: pl.Expr) -> pl.Expr:
    is_one = pl.col("other_step") == pl.col("step")
    where = phrase("step {}", _text("step"))
    before = phrase(", read by {},", _by("other_ranks"))
    known = pl.col("ranks").is_not_null()
    return phrase(
        "{} of step {}{} came again in {}{}",
        samples,
        _text("other_step"),
        pl.when(is_one | ~known).then(pl.lit("")).otherwise(before),
        pl.when(is_one).then(pl.lit("the same step")).otherwise(where),
        pl.when(known).then(phrase(", read by {}", _by("ranks"))).otherwise(pl.lit("")),
    )


def _at_odds() -> pl.Expr:
    return phrase(
        "ranks of {} read different batches; {}",
        _by("dp_ranks", "replica"),
        pl.when("is_settled")
        .then(phrase("{} against the others", _by("ranks")))
        .otherwise(pl.lit("which is right nothing tells")),
    )


def _repeated(samples: pl.Expr) -> pl.Expr:
    by_position = phrase(
        "attempt {} began in step {} with {}, which are before where the checkpoint of"
        " step {} stood",
        _text("attempt"),
        _text("step"),
        samples,
        _text("other_step"),
    )
    by_reads = phrase(
        "attempt {} began with step {}; {} of step {} in attempt {} came again in"
        " step {}",
        _text("attempt"),
        _text("resumed"),
        samples,
        _text("other_step"),
        _text("other_attempt"),
        _text("step"),
    )
    told = pl.col("other_attempt").is_null()
    return pl.when(told).then(by_position).otherwise(by_reads)


def _left_out(samples: pl.Expr) -> pl.Expr:
    step, other = _text("step"), _text("other_step")
    at_end = phrase(
        "{} of the pass that ended in step {} came in no step", samples, step
    )
    inside = phrase(
        "{} came in no step: in step {} the batches of {} leave a gap",
        samples,
        step,
        _by("ranks"),
    )
    between = phrase(
        "{} came in no step: step {} ends before, step {} goes on after",
        samples,
        other,
        step,
    )
    return (
        pl.when(pl.col("other_step").is_null())
        .then(at_end)
        .when(pl.col("other_step") == pl.col("step"))
        .then(inside)
        .otherwise(between)
    )


def _samples() -> pl.Expr:
    """Return how many samples, and which where that is known."""
    last = pl.col("after") - 1
    one = phrase("sample {}", _text("first"))
    span = (
        pl.when(last == pl.col("first"))
        .then(one)
        .otherwise(
            phrase(
                "{} samples between {} and {}",
                _text("samples"),
                _text("first"),
                last.cast(pl.String),
            )
        )
    )
    of_set = pl.when(pl.col("dataset").is_not_null()).then(
        phrase(" of {}", pl.col("dataset"))
    )
    known = phrase("{}{}", span, of_set.fill_null(""))
    counted = _counted("samples", "a sample", "{} samples")
    hashes = _counted(
        "batches", "a batch, by its hash,", "{} batches, by their hashes,"
    )
    return pl.coalesce(known, counted, hashes, pl.lit("batches"))


def _counted(column: str, one: str, several: str) -> pl.Expr:
    """Return how many in words, null where that is not known."""
    is_one = pl.col(column) == 1
    return pl.when(is_one).then(pl.lit(one)).otherwise(phrase(several, _text(column)))


def _by(column: str, noun: str = "rank") -> pl.Expr:
    is_one = pl.col(column).str.contains("^[0-9]+$").fill_null(value=False)
    who = pl.when(is_one).then(pl.lit(noun)).otherwise(pl.lit(f"{noun}s"))
    return phrase("{} {}", who, pl.col(column).fill_null("not known"))


def _text(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.String)
