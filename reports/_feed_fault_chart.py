"""Where along the steps a feed went wrong."""

from typing import Final

import polars as pl

from reports import _sql
from reports._feed_heading import KINDS
from reports._feed_steps import sample, steps_in_words
from reports._numbers import grouped
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import plural

_ABOUT: Final = About(
    definition="Kept steps whose samples were given before in the same pass, steps from"
    " which on samples are left out, and steps in which ranks of one replica have"
    " different batches. Steps that a restart did again are meant to read again.",
    source="intervals of samples, sorted; layout of the run card or dp_rank",
    blind_spots="What a shuffled pass leaves out shows only when the next has begun."
    " Batches known by a hash alone tell of repeats, not of gaps.",
)

_TIPS: Final = (
    ("label", "what"),
    ("steps", "step"),
    ("count", "faults"),
    ("told", "samples"),
)

_SQL: Final = """\
SELECT kind, step // $width * $width AS from_step, count(*) AS faults,
       sum(samples_count)::BIGINT AS samples
FROM data_feed_violations
${where}GROUP BY kind, from_step
ORDER BY kind, from_step"""


def chart(
    faults: pl.DataFrame, ends: tuple[int, int], width: int, scope: Scope
) -> list[Chart]:
    """Return the marks; nothing where nothing went wrong.

    Args:
        faults: Rows of DataFeedViolations of one run.
        ends: First and last step of the run.
        width: Steps that are put together. [1]
        scope: Runs of the page.
    """
    from reports.charts import feeds

    if faults.is_empty():
        return []
    numbers = _numbers(faults, width)
    drawn = _drawn(numbers, width)
    return [
        Chart(
            name="feed-faults",
            title="Steps that were given what they should not",
            summary=f"{plural(drawn.height, 'mark')} along steps {grouped(ends[0])} to"
            f" {grouped(ends[1])}, a row for each kind.",
            spec=feeds.marks(drawn, ends, _TIPS),
            numbers=numbers,
            sql=_sql.filled(_SQL, width=str(width), where=_sql.where(scope.sql())),
            about=_ABOUT,
            sample=sample(ends[1] - ends[0] + 1, width),
        )
    ]


def _numbers(faults: pl.DataFrame, width: int) -> pl.DataFrame:
    samples = pl.col("samples_count")
    return (
        faults.group_by("kind", from_step=pl.col("step") // width * width)
        .agg(
            faults=pl.len().cast(pl.Int64),
            samples=pl.when(samples.count() > 0).then(samples.sum()),
        )
        .sort("kind", "from_step")
    )


def _drawn(numbers: pl.DataFrame, width: int) -> pl.DataFrame:
    return numbers.select(
        label=said_by("kind", KINDS.__getitem__),
        step="from_step",
        steps=steps_in_words(width),
        count=said_by("faults", grouped),
        told=said_by("samples", grouped).fill_null("not known"),
    )
