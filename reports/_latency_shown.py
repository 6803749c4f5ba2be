"""Which series of transfers are shown, in which order, and what they are called."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from reports._group_words import group_in_words
from reports._numbers import THIN, duration, grouped, significant, size
from reports._overlap_words import both_in_words, kind_in_words
from reports._words import name, plural

#: Stands where nothing is known.
DASH: Final = "\N{EN DASH}"

#: Columns that tell one series from another.
SERIES: Final = (
    "run_id",
    "source",
    "scope",
    "group_id",
    "kind",
    "ranks",
    "in_place",
)

#: Order of the series in SQL: those with a line first, then those seen most.
ORDER: Final = (
    "beta_gbs IS NULL, timed_count DESC, run_id, source, scope, group_id, kind,"
    " ranks NULLS LAST, in_place NULLS LAST"
)

#: Groups of a parallel kind are shown together, others by themselves.
SHOWN: Final = ("timed_count > 0", "(scope <> 'group' OR parallel_kind IS NULL)")

_KILOBYTE: Final = 1000

#: Characters of a group's name in a legend.
_NAME_LIMIT: Final = 24


def shown(anatomy: pl.LazyFrame) -> pl.DataFrame:
    """Return the series that are shown, those with a line first.

    Args:
        anatomy: Rows of LatencyAnatomy.
    """
    alone = (pl.col("scope") != "group") | pl.col("parallel_kind").is_null()
    kept = anatomy.filter((pl.col("timed_count") > 0) & alone)
    is_bare = pl.col("beta_gbs").is_null()
    return kept.sort(
        is_bare,
        -pl.col("timed_count"),
        *SERIES,
        nulls_last=True,
    ).collect()


def labels(series: pl.DataFrame) -> list[str]:
    """Return a name for each series, no two alike."""
    several = series["run_id"].n_unique() > 1
    found = [label(row, with_run=several) for row in series.iter_rows(named=True)]
    counts: dict[str, int] = {}
    apart = []
    for text in found:
        counts[text] = counts.get(text, 0) + 1
        apart.append(text if counts[text] == 1 else f"{text} ({counts[text]})")
    return apart


def label(row: Mapping[str, Any], *, with_run: bool = False) -> str:
    """Return a series in words: whose it is, its kind and ranks.

    Args:
        row: A series.
        with_run: Whether the run is named, too.
    """
    group, kind = str(row["group_id"]), kind_in_words(str(row["kind"]))
    if row["scope"] == "test":
        what = f"benchmark {kind}"
    elif row["scope"] == "parallel_kind":
        what = both_in_words(group, str(row["kind"]))
    else:
        what = group_in_words(group, row["parallel_kind"], str(row["kind"]))
    ranks = f", {plural(row['ranks'], 'rank')}" if row["ranks"] else ""
    place = ", in place" if row["in_place"] else ""
    run = f"{name(str(row['run_id']), _NAME_LIMIT)}: " if with_run else ""
    return f"{run}{what}{ranks}{place}"


def message(size_bytes: int) -> str:
    """Return the size of a message in words; below a kilobyte to the byte."""
    is_small = size_bytes < _KILOBYTE
    return f"{grouped(size_bytes)}{THIN}B" if is_small else size(size_bytes)


def fixed_part(row: Mapping[str, Any]) -> str:
    """Return the fixed part of a series with its interval, in words."""
    if row["alpha_ns"] is None:
        return DASH
    low, high = row["alpha_low_ns"], row["alpha_high_ns"]
    if not low:
        return f"at most {duration(high)}"
    return f"{duration(row['alpha_ns'])} ({duration(low)} to {duration(high)})"


def bandwidth(row: Mapping[str, Any]) -> str:
    """Return the asymptote of a series with its interval, in words.

    It is busbw; algbw, and said so, where the kind has no factor.
    """
    has_factor = row["busbw_gbs"] is not None
    name = "busbw" if has_factor else "beta"
    value, low, high = (row[f"{name}{end}_gbs"] for end in ("", "_low", "_high"))
    if value is None:
        return DASH
    unit = f"{THIN}GB/s" if has_factor else f"{THIN}GB/s of algbw"
    if high is None:
        return f"at least {significant(low)}{unit}"
    return f"{significant(value)}{unit} ({significant(low)} to {significant(high)})"
