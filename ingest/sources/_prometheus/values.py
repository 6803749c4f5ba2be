"""Values of samples in the unit of their column."""

from typing import Final

import polars as pl

from ingest.sources._prometheus.fields import FIELDS
from ingest.sources._prometheus.kinds import INT32_BLANK
from ingest.tables import Table

#: What is known of each field, by its position.
FACTS: Final = pl.DataFrame(
    {
        "column": [field.column for field in FIELDS],
        "order": [field.order for field in FIELDS],
        "kind": [field.kind for field in FIELDS],
        "blank": [field.blank for field in FIELDS],
        "multiplier": [field.multiplier for field in FIELDS],
        "divisor": [float(field.divisor) for field in FIELDS],
        "is_part": [field.is_part for field in FIELDS],
        "table": [field.table.sql_name() for field in FIELDS],
    },
    schema_overrides={"blank": pl.Int64, "multiplier": pl.Int64, "order": pl.Int8},
)

#: Microseconds, to which counters of seconds are exact. [ns, 1/s]
_US_NS: Final = 1_000
_US_PER_S: Final = 1_000_000


def types_of(table: type[Table]) -> dict[str, pl.DataType]:
    """Return the columns of a table that samples fill, with their types."""
    schema = pl.Schema(table)
    names = dict.fromkeys(f.column for f in FIELDS if f.table is table)
    return {name: schema[name] for name in names}


def converted(samples: pl.DataFrame) -> pl.DataFrame:
    """Replace `value` and `whole` by `real` and `count`, in the unit of the column.

    Args:
        samples: `field`, `value` and `whole`.

    Returns:
        The samples with `real`, null but for quantities; `count`, null but for
        integers; both null where the value is a blank; and `is_wrong`, where it cannot
        be a value of the field.
    """
    facts = FACTS.select("kind", "blank", "multiplier", "divisor")
    known = samples.hstack(facts[samples["field"]])
    is_count = pl.col("kind").is_in(["integer", "seconds"])
    is_kept = ~_is_blank() & ~_is_wrong()
    return known.with_columns(
        real=pl.when(is_kept & ~is_count).then(_real()),
        count=pl.when(is_kept & is_count).then(_count()),
        is_wrong=_is_wrong() & ~_is_blank(),
    ).drop("value", "whole", *facts.columns)


def _is_blank() -> pl.Expr:
    value, whole, blank = pl.col("value"), pl.col("whole"), pl.col("blank")
    is_beyond = (
        pl.when(whole.is_null())
        .then(value >= blank.cast(pl.Float64))
        .otherwise(whole >= blank)
    )
    return value.is_nan() | is_beyond


def _is_wrong() -> pl.Expr:
    value, kind = pl.col("value"), pl.col("kind")
    is_negative = kind.is_in(["integer", "seconds"]) & (value < 0)
    is_broken = (kind == "integer") & (value.floor() != value)
    return (value <= -INT32_BLANK) | is_negative | is_broken


def _real() -> pl.Expr:
    kind, is_integer = pl.col("kind"), pl.col("whole").is_not_null()
    in_hundredths = (kind == "percent") | ((kind == "percent_or_ratio") & is_integer)
    divisor = pl.when(in_hundredths).then(pl.lit(100.0)).otherwise("divisor")
    return pl.col("value") / divisor


def _count() -> pl.Expr:
    """Return integers; those written as such never go through a float."""
    value = pl.when(pl.col("value").is_finite()).then("value")
    exact = pl.col("whole").fill_null(value.cast(pl.Int64, strict=False))
    microseconds = (value * _US_PER_S).round().cast(pl.Int64, strict=False)
    return (
        pl.when(pl.col("kind") == "seconds")
        .then(microseconds * _US_NS)
        .otherwise(exact * pl.col("multiplier"))
    )
