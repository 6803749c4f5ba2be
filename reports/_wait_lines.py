"""Late ranks and the lines that lead to them, as they are drawn."""

import polars as pl

from ingest.phrases import phrase
from reports._numbers import duration, grouped
from reports._texts import said_by


def late(numbers: pl.DataFrame) -> pl.DataFrame:
    """Return the late ranks, the one that was waited for longest first.

    Args:
        numbers: What is drawn: `from_rank`, `late_rank`, `wait_s` and `waits`.
    """
    rows = numbers["from_rank"].n_unique()
    totals = numbers.group_by("late_rank").agg(pl.col("wait_s").sum())
    is_one = pl.col("late_rank").is_not_null()
    ordered = totals.sort(is_one, "wait_s", "late_rank", descending=[True, True, False])
    who = pl.when(is_one).then(phrase("rank {}", "late_rank"))
    waited = said_by("wait_s", lambda seconds: duration(seconds * 1e9))
    place = pl.int_range(pl.len())
    spread = (place + 0.5) * pl.max_horizontal(rows, pl.len()) / pl.len() - 0.5
    return ordered.select(
        "late_rank",
        y=spread,
        who=pl.coalesce(who, pl.lit("all others")),
        text=phrase("{} · {}", pl.coalesce(who, pl.lit("all others")), waited),
        is_first=place == 0,
    )


def lines(
    numbers: pl.DataFrame, left: pl.DataFrame, right: pl.DataFrame
) -> pl.DataFrame:
    """Return the lines, those to the latest rank on top.

    Args:
        numbers: What is drawn: `from_rank`, `late_rank`, `wait_s` and `waits`.
        left: Those that wait.
        right: Rows of `late`.
    """
    sources = left.select("from_rank", from_y="y", source="text")
    targets = right.select("late_rank", "is_first", to_y="y", target="who")
    joined = numbers.join(sources, on="from_rank").join(
        targets, on="late_rank", nulls_equal=True
    )
    meaning = pl.when("is_first").then(pl.lit("waiting")).otherwise(pl.lit("idle"))
    return joined.sort("is_first", "wait_s", "from_rank").select(
        "from_y",
        "to_y",
        value="wait_s",
        meaning=meaning,
        who="source",
        late="target",
        text=said_by("wait_s", lambda seconds: duration(seconds * 1e9)),
        count=said_by("waits", grouped),
    )
