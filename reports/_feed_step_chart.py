"""What input and uneven documents take of each step."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._feed_steps import sample, steps_in_words
from reports._numbers import grouped, percent
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import plural
from reports.theme import COLOURS

_ABOUT: Final = About(
    definition="Blocked on input: data_ns of all ranks over their time in the step."
    " Uneven documents: the assumed share of attention in compute times (the greatest"
    " sum of squared lengths of a replica over their mean, less one). Median over the"
    " steps that are put together, and from the least to the most of them.",
    source="step log; data_reads; share of attention s / (12 h + s), arXiv 2104.04473",
    blind_spots="The second is expected, not measured: it needs tokens_squared of every"
    " replica, and kernels may hide or add to it.",
)

_PARTS: Final = {
    "blocked on input": ("input_ratio", COLOURS["stalled"]),
    "uneven documents, expected": ("imbalance_time_ratio", COLOURS["waiting"]),
}

_TITLE: Final = "share of the step [%]"

_SQL: Final = """\
WITH told AS (
  SELECT step // $width * $width AS from_step,
         data_gpu_ns::DOUBLE / nullif(step_gpu_ns, 0)::DOUBLE AS input_ratio,
         imbalance_time_ratio
  FROM data_feed_steps
  $where), parts AS (
  SELECT from_step, 'blocked on input' AS part, input_ratio AS share FROM told
  UNION ALL
  SELECT from_step, 'uneven documents, expected', imbalance_time_ratio FROM told
)
SELECT part, from_step, count(*) AS steps, min(share) AS low,
       quantile_cont(share, 0.5) AS middle, max(share) AS high
FROM parts
WHERE share IS NOT NULL
GROUP BY part, from_step
ORDER BY part, from_step"""


def chart(kept: pl.DataFrame, width: int, scope: Scope) -> list[Chart]:
    """Return the lines; nothing where neither is told.

    Args:
        kept: Kept rows of DataFeedSteps of one run.
        width: Steps that are put together. [1]
        scope: Runs of the page.
    """
    from reports.charts import steps as drawings

    numbers = _numbers(kept, width)
    if numbers.is_empty():
        return []
    present = numbers["part"].unique().to_list()
    colours = {part: colour for part, (_, colour) in _PARTS.items() if part in present}
    where = _sql.where("is_kept", scope.sql()).replace("\n", "\n  ").rstrip(" ")
    tips = (
        ("part", "what"),
        ("steps", "step"),
        ("text", "median"),
        ("range", "least to most"),
        ("count", "steps"),
    )
    return [
        Chart(
            name="feed-steps",
            title="What input and uneven documents take of each step [%]",
            summary=f"{plural(len(colours), 'line')} over"
            f" {plural(kept.height, 'step')}.",
            spec=drawings.ranges(_drawn(numbers, width), _TITLE, colours, tips),
            numbers=numbers,
            sql=_sql.filled(_SQL, width=str(width), where=where),
            about=_ABOUT,
            sample=sample(kept.height, width),
            legend=colours,
        )
    ]


def _numbers(kept: pl.DataFrame, width: int) -> pl.DataFrame:
    took = pl.col("step_gpu_ns").cast(pl.Float64)
    share = pl.when(took > 0).then(pl.col("data_gpu_ns").cast(pl.Float64) / took)
    told = kept.select(
        "imbalance_time_ratio",
        input_ratio=share,
        from_step=pl.col("step") // width * width,
    )
    names = {column: part for part, (column, _) in _PARTS.items()}
    parts = told.unpivot(
        list(names), index="from_step", variable_name="part", value_name="share"
    ).drop_nulls("share")
    value = pl.col("share")
    return (
        parts.with_columns(pl.col("part").replace_strict(names))
        .group_by("part", "from_step")
        .agg(
            steps=pl.len().cast(pl.Int64),
            low=value.min(),
            middle=value.quantile(0.5, "linear"),
            high=value.max(),
        )
        .sort("part", "from_step")
    )


def _drawn(numbers: pl.DataFrame, width: int) -> pl.DataFrame:
    low, high = said_by("low", percent), said_by("high", percent)
    return numbers.select(
        *["part", "low", "middle", "high"],
        step="from_step",
        steps=steps_in_words(width),
        text=said_by("middle", percent),
        range=phrase("{} to {}", low, high),
        count=said_by("steps", grouped),
    )
