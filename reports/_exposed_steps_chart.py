"""Exposed communication of each step, by what its groups of ranks are for."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._numbers import grouped, percent
from reports._overlap_words import axis_in_words, kind_in_words
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import plural

#: Steps that are told apart at once; more are put together by as many as it takes.
_MOST_STEPS: Final = 120

#: Shades of the one colour that means communication; each part has its shape, too.
_SHADES: Final = ("#2d63ad", "#7fb0e6", "#12305c", "#5a87a8")

_ABOUT: Final = About(
    definition="Time of a step in which communication is on and no compute: the median"
    " over the ranks that have it, and a line from 5 % to 95 % of them. What several"
    " groups expose at once counts for each of them.",
    source="definition of overlap; a step on the device reaches from its first start"
    " there to that of the next",
    blind_spots="Only traced steps and ranks are seen. A kernel also waits for late"
    " ranks: exposed is not transfer.",
)

_TITLE: Final = "share of the step [%]"

_TIPS: Final = (
    ("part", "what"),
    ("steps", "step"),
    ("text", "median"),
    ("range", "5 % to 95 %"),
    ("count", "ranks and steps"),
)

_SQL: Final = """\
WITH seen AS (
  SELECT $name AS part, step // $width * $width AS from_step, exposed_ns,
         exposed_ns / span_ns AS share
  FROM overlap_groups
  $where), parts AS (
  SELECT part FROM seen GROUP BY part ORDER BY sum(exposed_ns) DESC, part LIMIT $most
)
SELECT part, from_step, count(*) AS windows,
       quantile_cont(share, 0.05) AS low,
       quantile_cont(share, 0.5) AS middle,
       quantile_cont(share, 0.95) AS high
FROM seen JOIN parts USING (part)
GROUP BY part, from_step
ORDER BY part, from_step"""


def chart(groups: pl.LazyFrame, scope: Scope) -> list[Chart]:
    """Return exposed communication over steps; nothing for several runs or one step.

    Args:
        groups: Rows of OverlapGroups.
        scope: Runs of the page.
    """
    from reports.charts import steps

    split = _split(groups)
    windows = _windows(groups, split)
    if windows["run_id"].n_unique() != 1 or windows["step"].n_unique() < 2:  # noqa: PLR2004 - a line needs two ends
        return []
    width = _width(windows)
    numbers = _numbers(windows, width)
    drawn = _drawn(numbers, split, width)
    colours = dict(
        zip(drawn["part"].unique(maintain_order=True), _SHADES, strict=False)
    )
    seen = plural(windows["step"].n_unique(), "step")
    return [
        Chart(
            name="overlap-steps",
            title="Exposed communication of each step, by what it is for, as a share"
            " of the step [%]: median, and uprights from 5 % to 95 % of the ranks",
            summary=f"{plural(len(colours), 'line')} of medians over {seen}, with"
            " ranges from 5 % to 95 % of the ranks.",
            spec=steps.ranges(drawn, _TITLE, colours, _TIPS),
            numbers=numbers,
            sql=_query(scope, split, width),
            about=_ABOUT,
            sample=f"{_sample(windows, width)}; the {plural(len(colours), 'part')} most"
            " exposed",
            legend=colours,
        )
    ]


def _sample(windows: pl.DataFrame, width: int) -> str:
    seen = plural(windows["step"].n_unique(), "step")
    ranks = plural(windows["trace_id", "device"].n_unique(), "traced device")
    return f"{ranks}, {seen}{f'; {width} steps together' if width > 1 else ''}"


def _split(groups: pl.LazyFrame) -> str:
    """Return what to tell apart: what groups are for, or kinds where none says that."""
    told = groups.filter(pl.col("parallel_kind") != "unknown").select(pl.len())
    return "parallel" if told.collect().item() else "kind"


def _column(split: str) -> str:
    return "kind" if split == "kind" else "parallel_kind"


def _windows(groups: pl.LazyFrame, split: str) -> pl.DataFrame:
    rows = groups.filter(
        pl.col("split") == split,
        pl.col("step").is_not_null(),
        ~pl.col("is_shared"),
        pl.col("span_ns") > 0,
    )
    share = pl.col("exposed_ns") / pl.col("span_ns")
    columns = ["run_id", "trace_id", "device", "step", "exposed_ns"]
    return rows.select(*columns, part=_column(split), share=share).collect()


def _width(windows: pl.DataFrame) -> int:
    first, last = windows.select(
        pl.col("step").min(), pl.col("step").max().alias("last")
    ).row(0)
    return max(1, -(-(int(last) - int(first) + 1) // _MOST_STEPS))


def _numbers(windows: pl.DataFrame, width: int) -> pl.DataFrame:
    share = pl.col("share")
    parts = (
        windows.group_by("part")
        .agg(pl.col("exposed_ns").cast(pl.Int128).sum())
        .sort(["exposed_ns", "part"], descending=[True, False])
        .head(len(_SHADES))
    )
    return (
        windows.join(parts.select("part"), on="part")
        .group_by("part", from_step=pl.col("step") // width * width)
        .agg(
            windows=pl.len().cast(pl.Int64),
            low=share.quantile(0.05, "linear"),
            middle=share.quantile(0.5, "linear"),
            high=share.quantile(0.95, "linear"),
        )
        .sort("part", "from_step")
    )


def _drawn(numbers: pl.DataFrame, split: str, width: int) -> pl.DataFrame:
    words = kind_in_words if split == "kind" else axis_in_words
    low, high = said_by("low", percent), said_by("high", percent)
    last = said_by(pl.col("from_step") + width - 1, grouped)
    first = said_by("from_step", grouped)
    return numbers.select(
        "low",
        "middle",
        "high",
        part=said_by("part", words),
        step="from_step",
        steps=first if width == 1 else phrase("{} to {}", first, last),
        text=said_by("middle", percent),
        range=phrase("{} to {}", low, high),
        count=said_by("windows", grouped),
    )


def _query(scope: Scope, split: str, width: int) -> str:
    told = (f"split = '{split}'", "step IS NOT NULL", "NOT is_shared", "span_ns > 0")
    where = _sql.where(*told, scope.sql()).replace("\n", "\n  ").rstrip(" ")
    return _sql.filled(
        _SQL,
        name=_column(split),
        width=str(width),
        where=where,
        most=str(len(_SHADES)),
    )
