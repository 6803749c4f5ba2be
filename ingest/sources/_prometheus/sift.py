"""Samples sorted into those that are stored and those that are refused."""

from typing import Final

import polars as pl

from ingest.sources._prometheus.fields import FIELDS
from ingest.sources._prometheus.untimed import FirstScrape
from ingest.sources._prometheus.values import converted
from ingest.sources._source import RAW_CHARACTERS, Refusal
from ingest.tables import PowerSamples

#: Rule of a sample whose series had another value without a time.
AGAIN: Final = "time_ns|required"

#: Rule of a series that is the result of an expression.
NAMELESS: Final = "metric|required"

_HINTS: Final = {
    AGAIN: "a second scrape without time stamps: keep each scrape in its own file",
    NAMELESS: "the result of an expression has no name: query the metric itself",
}

_VALUE_RULES: Final = pl.Series([f"{field.column}|value" for field in FIELDS])


def sift(known: pl.DataFrame, scrape: FirstScrape) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Sort samples.

    Args:
        known: `number` and `line`, where and what they are; `series`; `value`, `whole`
            and `time_ns`; `field`, `metric` and `thing` of the series; `rule`, which
            the sample breaks.
        scrape: Remembers samples without a time.

    Returns:
        The samples that are stored, with `real` and `count`, and all that break a
        rule, with `number`, `line`, `rule` and `field`.
    """
    is_sound = pl.col("rule").is_null()
    found = converted(known.filter(is_sound & pl.col("field").is_not_null()))
    wrong = found.filter("is_wrong")
    fit = found.filter(~pl.col("is_wrong"))
    is_again = scrape.again(fit)
    refused = pl.concat(
        frame.select("number", "line", "rule", "field")
        for frame in (
            known.filter(~is_sound),
            wrong.with_columns(rule=_VALUE_RULES.gather(wrong["field"])),
            fit.filter(is_again).with_columns(rule=pl.lit(AGAIN)),
        )
    )
    return fit.filter(~is_again), refused.sort("number")


def refusals(refused: pl.DataFrame, place: str) -> tuple[Refusal, ...]:
    """Return what `sift` refused.

    Args:
        refused: `number`, `line`, `rule` and `field`.
        place: What a number counts: `line`.
    """
    rows = refused.select(
        "number", pl.col("line").str.head(RAW_CHARACTERS), "rule", "field"
    )
    return tuple(
        Refusal(
            PowerSamples if field is None else FIELDS[field].table,
            f"{place} {number}",
            rule,
            line,
            _HINTS.get(rule),
        )
        for number, line, rule, field in rows.iter_rows()
    )
