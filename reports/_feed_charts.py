"""Where along the steps a feed went wrong, and what input took of each step."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._feed_words import KINDS
from reports._numbers import grouped, percent
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import plural
from reports.theme import COLOURS

#: Steps that are told apart at once; more are put together by as many as it takes.
_MOST_STEPS: Final = 120

_FAULTS: Final = About(
    definition="Kept steps whose samples were given before in the same pass, steps from"
    " which on samples are left out, and steps in which ranks of one replica have"
    " different batches. Steps that a restart did again are meant to read again.",
    source="intervals of samples, sorted; layout of the run card or dp_rank",
    blind_spots="What a shuffled pass leaves out shows only when the next has begun."
    " Batches known by a hash alone tell of repeats, not of gaps.",
)

_TAKEN: Final = About(
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

_FAULTS_SQL: Final = """\
SELECT kind, step // $width * $width AS from_step, count(*) AS faults,
       sum(samples_count)::BIGINT AS samples
FROM data_feed_violations
${where}GROUP BY kind, from_step
ORDER BY kind, from_step"""

_TAKEN_SQL: Final = """\
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


def charts(faults: pl.DataFrame, steps: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return the drawings; nothing for several runs, whose steps are not the same.

    Args:
        faults: Rows of DataFeedViolations.
        steps: Rows of DataFeedSteps.
        scope: Runs of the page.
    """
    if steps["run_id"].n_unique() != 1 or steps["step"].n_unique() < 2:  # noqa: PLR2004 - a line needs two ends
        return []
    first, last = steps.select(
        first=pl.col("step").min(), last=pl.col("step").max()
    ).row(0)
    width = max(1, -(-(last - first + 1) // _MOST_STEPS))
    return [
        *_faults(faults, (first, last), width, scope),
        *_taken(steps.filter("is_kept"), width, scope),
    ]


def _faults(
    faults: pl.DataFrame, ends: tuple[int, int], width: int, scope: Scope
) -> list[Chart]:
    from reports.charts import feeds

    if faults.is_empty():
        return []
    numbers = (
        faults.group_by("kind", from_step=pl.col("step") // width * width)
        .agg(faults=pl.len().cast(pl.Int64), samples=_sum("samples_count"))
        .sort("kind", "from_step")
    )
    drawn = numbers.select(
        label=said_by("kind", KINDS.__getitem__),
        step="from_step",
        steps=_steps(width),
        count=said_by("faults", grouped),
        told=said_by("samples", grouped).fill_null("not known"),
    )
    tips = (
        ("label", "what"),
        ("steps", "step"),
        ("count", "faults"),
        ("told", "samples"),
    )
    return [
        Chart(
            name="feed-faults",
            title="Steps that were given what they should not",
            summary=f"{plural(drawn.height, 'mark')} along steps {grouped(ends[0])} to"
            f" {grouped(ends[1])}, a row for each kind.",
            spec=feeds.marks(drawn, ends, tips),
            numbers=numbers,
            sql=_sql.filled(
                _FAULTS_SQL, width=str(width), where=_sql.where(scope.sql())
            ),
            about=_FAULTS,
            sample=_sample(ends[1] - ends[0] + 1, width),
        )
    ]


def _sum(column: str) -> pl.Expr:
    value = pl.col(column)
    return pl.when(value.count() > 0).then(value.sum())


def _taken(kept: pl.DataFrame, width: int, scope: Scope) -> list[Chart]:
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
            sql=_sql.filled(_TAKEN_SQL, width=str(width), where=where),
            about=_TAKEN,
            sample=_sample(kept.height, width),
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
        steps=_steps(width),
        text=said_by("middle", percent),
        range=phrase("{} to {}", low, high),
        count=said_by("steps", grouped),
    )


def _steps(width: int) -> pl.Expr:
    first = said_by("from_step", grouped)
    if width == 1:
        return first
    return phrase("{} to {}", first, said_by(pl.col("from_step") + width - 1, grouped))


def _sample(steps: int, width: int) -> str:
    return f"{plural(steps, 'step')}{f'; {width} together' if width > 1 else ''}"
