"""What adds to the bubble of pipelines, all stages together."""

from typing import Final

import polars as pl

from analysis.pipeline_bubbles import REPLAY_ERROR_MAX
from reports import _sql
from reports._bubble_words import CAUSES
from reports._numbers import THIN, duration, percent
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import plural
from reports.theme import Meaning

#: Names of bars, and the meaning of each on the page.
_BARS: Final[dict[str, tuple[str, Meaning]]] = {
    "imbalance_ns": ("stage imbalance", "waiting"),
    "straggler_ns": ("slow workers", "waiting"),
    "communication_ns": ("transfers", "communication"),
    "rest": ("schedule and rest", "idle"),
}

_ABOUT: Final = About(
    definition="Each cause is what goes when a replay takes it away, one after the"
    " other: every operation at the median of its stage, then every pass at the mean"
    " over stages, then transfers that take no time. The rest is what is left.",
    source="replay of what-if analysis (arXiv 2505.05713); its order is ours",
    blind_spots="Causes overlap: one that is taken away later has less left to add."
    f" Traces whose replay is off by over {REPLAY_ERROR_MAX * 100:.0f}{THIN}% are left"
    " out, and those whose replicas are too few to tell slow workers from slow"
    " stages.",
)

_TIPS: Final = (("cause", "cause"), ("text", "adds"), ("share", "of the bubble"))

_SQL: Final = """\
SELECT sum(bubble_ns) / 1e9 AS bubble_s,
       sum(imbalance_ns) / 1e9 AS imbalance_s,
       sum(straggler_ns) / 1e9 AS straggler_s,
       sum(communication_ns) / 1e9 AS communication_s
FROM pipeline_bubbles
${where}HAVING count(*) > 0"""

_CONDITIONS: Final = ("compute_ns > 0", *(f"{name} IS NOT NULL" for name in CAUSES))


def chart(known: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return the causes, the largest first; none where no replay tells them.

    Args:
        known: Rows of PipelineBubbles that were measured.
        scope: Runs of the page.
    """
    from reports.charts import bars

    told = known.drop_nulls(list(CAUSES))
    if told.is_empty():
        return []
    numbers = _numbers(told)
    drawn = _drawn(numbers)
    return [
        Chart(
            name="bubble-causes",
            title="What adds to the bubble, all stages together [GPU-s]",
            summary=f"{plural(drawn.height, 'bar')}, the longest {drawn['text'][0]},"
            f" {drawn['label'][0]}.",
            spec=bars.ranking(drawn, "GPU time [GPU-s]", _TIPS),
            numbers=numbers,
            sql=_sql.filled(_SQL, where=_sql.where(*_CONDITIONS, scope.sql())),
            about=_ABOUT,
            sample=f"{plural(told.height, 'stage')} of"
            f" {plural(told['trace_id'].n_unique(), 'trace')}; causes that take from"
            " the bubble have no bar",
        )
    ]


def _numbers(told: pl.DataFrame) -> pl.DataFrame:
    names = ("bubble_ns", "imbalance_ns", "straggler_ns", "communication_ns")
    return told.select(
        (pl.col(name).sum().cast(pl.Float64) / 1e9).alias(f"{name[:-3]}_s")
        for name in names
    )


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    known = numbers.row(0, named=True)
    causes = {name: known[f"{name[:-3]}_s"] for name in CAUSES}
    whole = known["bubble_s"]
    parts = causes | {"rest": whole - sum(causes.values())}
    rows = pl.DataFrame(
        {
            "label": [_BARS[name][0] for name in parts],
            "cause": [CAUSES.get(name, "the schedule, and the rest") for name in parts],
            "value": list(parts.values()),
            "meaning": [_BARS[name][1] for name in parts],
        }
    )
    return (
        rows.filter(pl.col("value") > 0)
        .sort("value", descending=True)
        .with_columns(
            text=said_by("value", lambda seconds: duration(seconds * 1e9)),
            share=said_by(pl.col("value") / (whole or 1), percent),
        )
    )
