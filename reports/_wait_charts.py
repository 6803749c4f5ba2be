"""Waiting for the last rank, by group of ranks."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from reports import _sql
from reports._group_words import group_in_words
from reports._numbers import duration
from reports._runs import MOST_ROWS
from reports._section import About, Chart, Scope
from reports._texts import named, said_by
from reports._words import plural

_SQL: Final = """\
SELECT group_id, kind, count(*) AS collectives,
       sum(wait_ns_total) / 1e9 AS wait_s,
       max(ranks_expected) AS ranks
FROM collective_waits
${where}GROUP BY group_id, kind
HAVING sum(wait_ns_total) > 0
ORDER BY wait_s DESC, group_id, kind
LIMIT $most"""

_ABOUT: Final = About(
    definition="From each rank's arrival to the last arrival, all ranks and collectives"
    " of a group and kind together.",
    source="last arrival minus start, clocks of hosts brought together by the ends of"
    " their collectives",
    blind_spots="Ranks without a trace are not counted, neither as waiting nor as late."
    " A wait below the clock residual is no evidence.",
)

_TIPS: Final = (
    ("kind", "kind"),
    ("group", "group"),
    ("text", "waited"),
    ("ranks", "ranks"),
    ("collectives", "collectives"),
)


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


def chart(
    groups: pl.DataFrame, axes: Mapping[str, str], seen: int, scope: Scope
) -> list[Chart]:
    """Return waiting by group and kind; nothing where nobody waited.

    Args:
        groups: Rows of `by_group`.
        axes: What groups are for, of those of which that is known.
        seen: Collectives on the page.
        scope: Runs of the page.
    """
    from reports.charts import bars

    if groups.is_empty():
        return []
    drawn = _drawn(groups, axes)
    longest = str(drawn["label"][0]).replace("\n", " of ")
    where = _sql.where(scope.sql())
    most = plural(groups.height, "group")
    return [
        Chart(
            name="waits-groups",
            title="Waiting for the last rank, all ranks of a group together [GPU-s]",
            summary=f"{plural(groups.height, 'bar')}, the longest"
            f" {drawn['text'][0]}, {longest}.",
            spec=bars.ranking(drawn, "waiting [GPU-s]", _TIPS),
            numbers=groups,
            sql=_sql.filled(_SQL, where=where, most=str(MOST_ROWS)),
            about=_ABOUT,
            sample=f"{plural(seen, 'collective')}; the {most} that waited most",
        )
    ]


def _drawn(groups: pl.DataFrame, axes: Mapping[str, str]) -> pl.DataFrame:
    labels = [
        group_in_words(group, axes.get(group), kind, between="\n")
        for group, kind in groups.select("group_id", "kind").iter_rows()
    ]
    return groups.select(
        label=pl.Series(labels, dtype=pl.String),
        kind=named("kind"),
        group=named("group_id"),
        value="wait_s",
        meaning=pl.lit("waiting"),
        text=said_by("wait_s", lambda seconds: duration(seconds * 1e9)),
        ranks=pl.col("ranks").cast(pl.String).fill_null("not known"),
        collectives="collectives",
    )
