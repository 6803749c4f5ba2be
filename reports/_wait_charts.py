"""Waiting by group of ranks, and who comes last."""

from typing import Final

import polars as pl

from reports import _sql
from reports._numbers import duration, significant
from reports._runs import MOST_ROWS
from reports._section import Chart, Scope
from reports._words import name, plural

_GROUPS_SQL: Final = """\
SELECT group_id, kind, count(*) AS collectives,
       sum(wait_ns_total) / 1e9 AS wait_s,
       max(ranks_expected) AS ranks
FROM collective_waits
${where}GROUP BY group_id, kind
HAVING sum(wait_ns_total) > 0
ORDER BY wait_s DESC, group_id, kind
LIMIT $most"""

_LATE_SQL: Final = """\
SELECT run_id, attempt, rank, late_ns / 1e9 AS late_s, last_count,
       expected_count, is_late
FROM late_ranks
${where}ORDER BY late_ns DESC, run_id, attempt, rank
LIMIT $most"""


def by_group(waits: pl.LazyFrame) -> pl.DataFrame:
    """Return waiting by group and kind, the longest first, ten at most.

    Args:
        waits: Rows of CollectiveWaits.
    """
    return (
        waits.group_by("group_id", "kind")
        .agg(
            collectives=pl.len().cast(pl.Int64),
            wait_s=pl.col("wait_ns_total").cast(pl.Int128).sum().cast(pl.Float64) / 1e9,
            ranks=pl.col("ranks_expected").max(),
        )
        .filter(pl.col("wait_s") > 0)
        .sort(["wait_s", "group_id", "kind"], descending=[True, False, False])
        .head(MOST_ROWS)
        .collect()
    )


def waiting(groups: pl.DataFrame, totals: dict[str, int], scope: Scope) -> list[Chart]:
    """Return waiting by group and kind.

    Args:
        groups: Rows of `by_group`.
        totals: Collectives and waits on the page.
        scope: Runs of the page.
    """
    from reports.charts import bars

    if groups.is_empty():
        return []
    drawn = groups.select(
        label=pl.struct("kind", "group_id").map_elements(
            lambda row: f"{name(row['kind'], 20)} · {name(row['group_id'], 24)}",
            return_dtype=pl.String,
        ),
        value="wait_s",
        meaning=pl.lit("waiting"),
        text=_spoken("wait_s"),
        ranks=pl.col("ranks").cast(pl.String).fill_null("not known"),
        collectives="collectives",
    )
    tips = (
        ("label", "group"),
        ("text", "waited"),
        ("ranks", "ranks"),
        ("collectives", "collectives"),
    )
    return [
        Chart(
            name="waits-groups",
            title="Waiting for the last rank, all ranks of a group together [GPU-s]",
            summary=f"{plural(groups.height, 'bar')}, the longest"
            f" {drawn['text'][0]}, {drawn['label'][0]}.",
            spec=bars.ranking(drawn, "waiting [GPU-s]", tips),
            numbers=groups,
            sql=_sql.filled(
                _GROUPS_SQL, where=_sql.where(scope.sql()), most=str(MOST_ROWS)
            ),
            definition="From each rank's arrival to the last arrival, all ranks and"
            " collectives of a group and kind together.",
            source="last arrival minus start, clocks aligned on common ends",
            sample=f"{plural(totals['collectives'], 'collective')}; the"
            f" {plural(groups.height, 'group')} that waited most",
            blind_spots="Ranks without a trace are not counted, neither as waiting nor"
            " as late. A wait below the clock residual is no evidence.",
        )
    ]


def lateness(late: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return how much later than the next-to-last each rank came.

    Args:
        late: Rows of LateRanks.
        scope: Runs of the page.
    """
    from reports.charts import bars

    top = (
        late.sort(
            ["late_ns", "run_id", "attempt", "rank"],
            descending=[True, False, False, False],
        )
        .head(MOST_ROWS)
        .select(
            "run_id",
            "attempt",
            "rank",
            "last_count",
            "expected_count",
            "is_late",
            late_s=pl.col("late_ns") / 1e9,
        )
    )
    if top.is_empty() or not top["late_s"].sum():
        return []
    drawn = _late_rows(top)
    tips = (
        ("label", "who"),
        ("run", "run"),
        ("text", "later"),
        ("last", "last in"),
        ("chance", "by chance"),
        ("beyond", "beyond chance"),
    )
    columns = [
        "run_id",
        "attempt",
        "rank",
        "late_s",
        "last_count",
        "expected_count",
        "is_late",
    ]
    return [
        Chart(
            name="waits-late",
            title="How much later than the next-to-last each rank came [s]",
            summary=f"{plural(top.height, 'bar')}; those in the colour of waiting are"
            " late beyond chance, the grey ones are not.",
            spec=bars.ranking(drawn, "later than the next-to-last [s]", tips),
            numbers=top.select(columns),
            sql=_sql.filled(
                _LATE_SQL, where=_sql.where(scope.sql()), most=str(MOST_ROWS)
            ),
            definition="Last arrival minus the one before it, over all collectives that"
            " the rank came last in. Coloured: last more often than chance allows, over"
            " all ranks together; grey: not.",
            source="binomial test, equal ranks each last equally often",
            sample=f"{plural(late.height, 'rank')} in complete collectives; the"
            f" {top.height} latest",
            blind_spots="A rank behind a slow link looks late in its own work.",
        )
    ]


def _late_rows(top: pl.DataFrame) -> pl.DataFrame:
    several = top.select("run_id", "attempt").n_unique() > 1
    labels = [
        f"rank {row['rank']}"
        + (f" · {name(row['run_id'], 16)} {row['attempt']}" if several else "")
        for row in top.to_dicts()
    ]
    return top.select(
        label=pl.Series(labels),
        value="late_s",
        meaning=pl.when("is_late").then(pl.lit("waiting")).otherwise(pl.lit("idle")),
        text=_spoken("late_s"),
        run=pl.col("run_id").map_elements(name, return_dtype=pl.String),
        last="last_count",
        chance=pl.col("expected_count").map_elements(
            significant, return_dtype=pl.String
        ),
        beyond=pl.when("is_late").then(pl.lit("yes")).otherwise(pl.lit("no")),
    )


def _spoken(column: str) -> pl.Expr:
    return pl.col(column).map_elements(
        lambda seconds: duration(seconds * 1e9), return_dtype=pl.String
    )
