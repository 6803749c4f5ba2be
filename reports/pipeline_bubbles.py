"""How long pipeline stages compute nothing."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.pipeline_bubbles import PipelineBubbles
from reports import _bubble_causes, _bubble_chart, _bubble_words, _sql
from reports._numbers import duration, percent
from reports._runs import MOST_ROWS, of_runs
from reports._section import Column, Content, Listing, Scope, Section
from reports._words import name

_EMPTY: Final = (
    "Traced operations of all stages tell: records of NDTimeline, Parquet of"
    " StragglerAnalysis, traces of MegaScan."
)

_COLUMNS: Final = (
    Column("Run"),
    Column("Stage", is_number=True),
    Column("Bubble", "Time without a pass over compute.", is_number=True),
    Column("In balance", "What the schedule has, (p - 1) / (v m).", is_number=True),
    Column("Imbalance", "What stages out of balance add.", is_number=True),
    Column(
        "Stragglers",
        "What slow workers and unequal micro-batches add.",
        is_number=True,
    ),
    Column("Transfers", "What transfers between stages add.", is_number=True),
)

_SQL: Final = """\
SELECT run_id, trace_id, pp_rank, bubble_ratio, expected_ratio, imbalance_ns / 1e9 AS
    imbalance_s, straggler_ns / 1e9 AS straggler_s, communication_ns / 1e9 AS transfer_s
FROM pipeline_bubbles
${where}ORDER BY bubble_ns DESC NULLS LAST, run_id, attempt, trace_id, pp_rank"""


def build(frames: Frames, scope: Scope) -> Content:
    """Return the bubble of each stage, and what adds to it."""
    rows = scope.of_runs(frames[PipelineBubbles]).sort(PipelineBubbles.key).collect()
    if rows.is_empty():
        return Content(
            heading="How long pipeline stages compute nothing is not known.",
            empty=_EMPTY,
        )
    known = rows.filter(pl.col("compute_ns") > 0)
    if known.is_empty():
        reasons = rows["reason"].drop_nulls().unique().sort().to_list()
        why = reasons[0] if reasons else "no trace shows a pass"
        return Content(
            heading=f"How long pipeline stages compute nothing is not known: {why}.",
            empty=_EMPTY,
        )
    total = _bubble_words.total_of(known)
    return Content(
        heading=_bubble_words.heading(total, of_runs(known["run_id"], scope)),
        paragraphs=_bubble_words.paragraphs(rows, total),
        charts=[
            *_bubble_chart.chart(known, scope),
            *_bubble_causes.chart(known, scope),
        ],
        listings=[_listing(known, scope)],
    )


def _listing(known: pl.DataFrame, scope: Scope) -> Listing:
    keys = ["bubble_ns", *PipelineBubbles.key]
    longest = known.sort(keys, descending=[True, *[False] * len(keys[1:])])
    shown = longest.head(MOST_ROWS)
    left = longest.height - shown.height
    return Listing(
        title="What adds to the bubble of each stage, in GPU time",
        columns=_COLUMNS,
        rows=[_row(row) for row in shown.iter_rows(named=True)],
        more=f"{left} more by SQL." if left else "",
        sql=_sql.filled(_SQL, where=_sql.where("compute_ns > 0", scope.sql())),
    )


def _row(row: dict[str, object]) -> tuple[str, ...]:
    ratios = [_said_ratio(row[key]) for key in ("bubble_ratio", "expected_ratio")]
    causes = ("imbalance_ns", "straggler_ns", "communication_ns")
    times = [_said_time(row[key]) for key in causes]
    return (name(str(row["run_id"]), 24), str(row["pp_rank"]), *ratios, *times)


def _said_ratio(value: object) -> str:
    return percent(value) if isinstance(value, float) else name(None)


def _said_time(value: object) -> str:
    if value is None:
        return name(None)
    return duration(float(str(value))).replace("-", "\N{MINUS SIGN}")


SECTION: Final = Section(
    "pipeline_bubbles", "Pipeline bubble", (PipelineBubbles,), build
)
