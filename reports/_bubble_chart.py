"""The bubble of each pipeline stage by phase, beside that of the schedule."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._numbers import percent
from reports._section import About, Chart, Scope
from reports._texts import named, said_by
from reports._words import plural
from reports.theme import COLOURS, INK

#: Stages that are read at once.
MOST_BARS: Final = 16

#: Phases in the order of time, with their colours: waiting, darker where it is not of
#: the schedule's ends.
_PHASES: Final = {
    "warm-up": ("warm_up_ns", COLOURS["stalled"]),
    "steady": ("steady_ns", COLOURS["waiting"]),
    "cool-down": ("cool_down_ns", COLOURS["idle"]),
}

_EXPECTED: Final = "schedule in balance, (p \N{MINUS SIGN} 1) / (v m)"

_ABOUT: Final = About(
    definition="Time in which a stage computes no pass, from the first pass forward of"
    " any stage of its replica to the last pass backward of any, over the time of its"
    " passes. It warms up until its first pass backward, and cools down after its last"
    " pass forward.",
    source="one forward, one backward, plain and interleaved (arXiv 2104.04473); stages"
    " p, chunks v and micro-batches m are those that the trace shows",
    blind_spots="What a stage did in the time is not seen: a pause of the host counts"
    " like waiting for another stage. Traces are samples of steps.",
)

_TIPS: Final = (
    ("label", "stage"),
    ("part", "phase"),
    ("text", "of its compute"),
    ("said_expected", "schedule in balance"),
)

_SQL: Final = """\
SELECT run_id, pp_rank,
       sum(warm_up_ns) / sum(compute_ns) AS "warm-up",
       sum(steady_ns) / sum(compute_ns) AS "steady",
       sum(cool_down_ns) / sum(compute_ns) AS "cool-down",
       max(expected_ratio) AS expected
FROM pipeline_bubbles
${where}GROUP BY run_id, pp_rank
ORDER BY run_id, pp_rank
LIMIT $most"""


def chart(bubbles: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return the bars; none where no stage was measured.

    Args:
        bubbles: Rows of PipelineBubbles.
        scope: Runs of the page.
    """
    from reports.charts import stages

    numbers = _numbers(bubbles)
    if numbers.is_empty():
        return []
    colours = {part: colour for part, (_, colour) in _PHASES.items()}
    where = _sql.where("compute_ns > 0", scope.sql())
    seen = plural(int(bubbles["rank_steps_count"].sum()), "step of a rank", _RANK_STEPS)
    return [
        Chart(
            name="bubble-stages",
            title="Time without a pass by pipeline stage, as a share of its compute"
            " [%]",
            summary=f"{plural(numbers.height, 'bar')}, one for each stage, cut into"
            f" {', '.join(_PHASES)}, with a mark at what the schedule has in balance.",
            spec=stages.phases(_drawn(numbers), _UNIT, colours, _TIPS),
            numbers=numbers,
            sql=_sql.filled(_SQL, where=where, most=str(MOST_BARS)),
            about=_ABOUT,
            sample=f"{seen}; at most {MOST_BARS} bars",
            legend=colours | {_EXPECTED: INK},
        )
    ]


_UNIT: Final = "share of its compute [%]"
_RANK_STEPS: Final = "steps of ranks"


def _numbers(bubbles: pl.DataFrame) -> pl.DataFrame:
    computed = pl.col("compute_ns").sum().cast(pl.Float64)
    return (
        bubbles.filter(pl.col("compute_ns") > 0)
        .group_by("run_id", "pp_rank")
        .agg(
            *[
                (pl.col(column).sum().cast(pl.Float64) / computed).alias(part)
                for part, (column, _) in _PHASES.items()
            ],
            expected=pl.col("expected_ratio").max(),
        )
        .sort("run_id", "pp_rank")
        .head(MOST_BARS)
    )


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    several = numbers["run_id"].n_unique() > 1
    stage = phrase("stage {}", pl.col("pp_rank").cast(pl.String))
    label = phrase("{} \N{MIDDLE DOT} {}", named("run_id", 16), stage)
    shown = numbers.with_row_index("key").with_columns(
        label=label if several else stage,
        said_expected=said_by("expected", percent).fill_null("not known"),
    )
    kept = ["key", "label", "expected", "said_expected"]
    parts = shown.unpivot(
        list(_PHASES), index=kept, variable_name="part", value_name="value"
    )
    return parts.with_columns(text=said_by("value", percent))
