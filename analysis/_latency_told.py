"""What is told of each series: counts, fits, the size seen most, and reasons."""

from typing import Final

import polars as pl

from analysis._latency_lines import LARGEST
from analysis._latency_pieces import FEWEST_SIZES
from analysis._latency_series import SERIES
from ingest.phrases import phrase

_ALPHA_LOW, _SLOPE, _SLOPE_LOW = (
    pl.col(name) for name in ("alpha_low", "slope", "slope_low")
)

#: Numbers of a point by the column that shows them, rounded to whole ns.
_TIMES: Final = {
    "p05_ns": "p05",
    "p50_ns": "p50",
    "p95_ns": "p95",
    "p99_ns": "p99",
    "tail_ns": "tail",
    "line_ns": "line",
    "line_low_ns": "line_low",
    "line_high_ns": "line_high",
}

_BUSBW: Final = ("busbw", "line_busbw")


def sizes(beside: pl.DataFrame) -> pl.DataFrame:
    """Return points as rows of LatencySizes."""
    ends = [f"{name}{end}" for name in _BUSBW for end in ("", "_low", "_high")]
    return beside.with_columns(
        pl.col("bytes_total").round(),
        timed_count="count",
        over_line_ratio="over",
        **{column: pl.col(name).round() for column, name in _TIMES.items()},
        **{f"{name}_gbs": pl.col(name) for name in ends},
    )


def anatomy(
    rows: pl.LazyFrame,
    series: pl.DataFrame,
    beside: pl.DataFrame,
    fitted: pl.DataFrame,
) -> pl.DataFrame:
    """Return rows of LatencyAnatomy.

    Args:
        rows: What `transfers` returns.
        series: What `number_series` returns.
        beside: What `beside_lines` returns.
        fitted: What `lines` returns.
    """
    measured = _measured(beside).join(fitted, on="series", how="left")
    joined = _seen(rows, series).join(measured, on="series", how="left")
    told = joined.with_columns(
        pl.col("sizes_count", "typical_count").fill_null(0),
        half_bytes=(pl.col("alpha") / _SLOPE).round().clip(0, LARGEST),
        **_bandwidths(),
        **{
            f"{name}_ns": pl.col(name).round()
            for name in ("alpha", "alpha_low", "alpha_high")
        },
    )
    return told.with_columns(reason=_reason())


def _bandwidths() -> dict[str, pl.Expr]:
    """Return the bandwidths that slopes are, and what they make of links. [GB/s]"""
    values = {
        "": 1 / _SLOPE,
        "_low": 1 / pl.col("slope_high"),
        "_high": pl.when(_SLOPE.is_not_null()).then(1 / _SLOPE_LOW),
    }
    beta = {f"beta{end}_gbs": value for end, value in values.items()}
    factor = pl.col("factor")
    return beta | {f"busbw{end}_gbs": v * factor for end, v in values.items()}


def _seen(rows: pl.LazyFrame, series: pl.DataFrame) -> pl.DataFrame:
    """Return how much was seen of each series, and what its groups have in common."""
    counts = rows.group_by("series").agg(
        seen_count=pl.len(), timed_count=(pl.col("time_ns") > 0).sum()
    )
    nodes = pl.col("nodes").is_not_null().all()
    same = pl.col("nodes").min() == pl.col("nodes").max()
    groups = series.group_by("series", *SERIES).agg(
        pl.col("parallel_kind").drop_nulls().min(),
        groups_count=pl.col("base").n_unique(),
        of_trace=pl.when(nodes & same).then(pl.col("nodes").max()),
    )
    hosts = pl.col("group_id").str.count_matches(",").cast(pl.Int64) + 1
    by_hosts = pl.when(pl.col("scope") == "hosts").then(hosts)
    found = groups.with_columns(nodes=pl.coalesce(by_hosts, "of_trace"))
    return found.join(counts.collect(), on="series")


def _measured(beside: pl.DataFrame) -> pl.DataFrame:
    """Return what the points of each series say together."""
    size, has_size = pl.col("bytes_total").round(), pl.col("bytes_total") > 0
    over = pl.col("over")
    typical = {
        "typical_bytes": size,
        "typical_count": pl.col("count"),
        "p50_ns": pl.col("p50").round(),
        "p99_ns": (pl.col("p50") + pl.col("tail")).round(),
        "tail_ns": pl.col("tail").round(),
    }
    ordered = beside.sort(
        ["series", "count", "bytes_total"],
        descending=[False, True, True],
        nulls_last=True,
    )
    return ordered.group_by("series", maintain_order=True).agg(
        pl.col("factor").first(),
        sizes_count=has_size.sum(),
        smallest_bytes=pl.col("low_bytes").filter(has_size).min(),
        largest_bytes=pl.col("high_bytes").filter(has_size).max(),
        residual_ratio=(over - 1).abs().median(),
        worst_ratio=over.max(),
        worst_bytes=size.filter(over == over.max()).first(),
        **{name: value.first() for name, value in typical.items()},
    )


def _reason() -> pl.Expr:
    """Return why a number is missing or has but one bound; null where none is."""
    few = phrase(f"{{}} of the {FEWEST_SIZES} sizes that a line needs", "sizes_count")
    return (
        pl.when(pl.col("timed_count") == 0)
        .then(pl.lit("no time is known: of ranks, or of starts, some are missing"))
        .when(pl.col("sizes_count") == 0)
        .then(pl.lit("no size is known"))
        .when(pl.col("sizes_count") < FEWEST_SIZES)
        .then(few)
        .when(_SLOPE.is_null())
        .then(pl.lit("times do not grow with size: no bandwidth"))
        .otherwise(_one_sided())
    )


def _one_sided() -> pl.Expr:
    """Return which numbers have but one bound: too few bytes or too many, or noise."""
    no_top = pl.when(_SLOPE_LOW.is_null()).then(
        pl.lit("the bandwidth has a lower bound only")
    )
    no_bottom = pl.when(_ALPHA_LOW == 0).then(
        pl.lit("the fixed part has an upper bound only")
    )
    both = pl.concat_str(no_top, no_bottom, separator="; ", ignore_nulls=True)
    return pl.when(both != "").then(both)
