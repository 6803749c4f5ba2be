"""Rates by cause beside Llama 3's, and what other sizes would see."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.interrupt_rates import FEW_EVENTS, InterruptRates
from analysis.published_rates import LLAMA_3_AS_OURS, LLAMA_3_CAUSES
from analysis.rate_projections import RateProjections
from reports import _sql
from reports._numbers import THIN, duration, grouped, percent
from reports._rate_shown import Row, mean_time, rate
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Notes
from reports._words import name, plural, said

_CAUSES_SQL: Final = """\
SELECT category, count, per_1000_node_days, per_1000_node_days_low,
       per_1000_node_days_high, mtbf_ns, mtbf_low_ns, mtbf_high_ns
FROM interrupt_rates
WHERE run_id = $run AND scope = 'run' AND level = 'interruption'
  AND component = 'all' AND category <> 'all'
ORDER BY count DESC, category"""

_SIZES_SQL: Final = """\
SELECT gpus, nodes, mtbf_ns, mtbf_low_ns, mtbf_high_ns, peer_mtbf_ns, peer_basis
FROM rate_projections
WHERE cluster = $cluster AND level = 'interruption' AND gpus IN ($sizes)
ORDER BY gpus"""

#: Sizes that are shown: those that Meta published, and some between. [GPUs]
_SIZES: Final = (8, 64, 512, 1024, 4096, 16_384, 32_768, 131_072)

_CAUSES: Final = (
    Column("Cause"),
    Column("Interruptions", is_number=True),
    Column("Share", is_number=True),
    Column("Per 1000 node-days", "With 95 % interval; a dash below 5.", is_number=True),
    Column("One in", "Of the run, 95 % interval; a dash below 5.", is_number=True),
    Column("Llama 3", "Share of its 419, by our categories.", is_number=True),
)

_PROJECTED: Final = (
    Column("GPUs", is_number=True),
    Column("Nodes", is_number=True),
    Column("One interruption in", "With 95 % interval.", is_number=True),
    Column(
        "Meta RSC-1",
        "Measured, or projected from its own rate of nodes, which its measured points"
        " do not follow.",
        is_number=True,
    ),
)

#: Table 5 whose percentages are our own; one of them is printed otherwise.
_FOOTNOTE: Final = (
    "Percentages are of the counts. The paper prints 30.1 % for 148 of 419, which is"
    " 35.3 %; its printed percentages sum to 94.9."
)


def causes(frames: Frames, row: Row) -> list[Listing]:
    """Return the run's interruptions by cause, with Llama 3's shares beside.

    Args:
        frames: The tables.
        row: The rate that the page leads with.
    """
    found = frames[InterruptRates].filter(
        (pl.col("run_id") == row["run_id"])
        & (pl.col("scope") == "run")
        & (pl.col("level") == "interruption")
        & (pl.col("component") == "all")
        & (pl.col("category") != "all")
    )
    ordered = found.sort(["count", "category"], descending=[True, False]).collect()
    if ordered.is_empty():
        return []
    shown = ordered.head(MOST_ROWS)
    more = ordered.height - shown.height
    return [
        Listing(
            title="Interruptions by cause, beside Llama 3's",
            columns=_CAUSES,
            rows=[_cause(one, row["count"]) for one in shown.to_dicts()],
            more=plural(more, "more cause") if more else "",
            sql=_sql.filled(_CAUSES_SQL, run=_sql.literal(row["run_id"])),
        )
    ]


def _cause(one: Row, total: int) -> tuple[str, ...]:
    category = one["category"]
    is_counted = category != "planned"
    share = percent(one["count"] / total) if is_counted and total else "not counted"
    known = is_counted and one["count"] >= FEW_EVENTS and one["mtbf_ns"] is not None
    theirs = LLAMA_3_AS_OURS.get(category)
    whole = sum(LLAMA_3_AS_OURS.values())
    return (
        name(said(category)),
        grouped(one["count"]),
        share,
        rate(one) if is_counted else "\N{EN DASH}",
        mean_time(one, "") if known else "\N{EN DASH}",
        percent(theirs / whole) if theirs else "\N{EN DASH}",
    )


def projections(frames: Frames, row: Row) -> list[Listing]:
    """Return how often runs of other sizes would be interrupted; nothing below five.

    Args:
        frames: The tables.
        row: The rate that the page leads with.
    """
    found = frames[RateProjections].filter(
        (pl.col("cluster") == row["cluster"])
        & (pl.col("level") == "interruption")
        & pl.col("gpus").is_in(_SIZES)
        & (pl.col("count") >= FEW_EVENTS)
    )
    rows = found.sort("gpus").collect()
    if rows.is_empty():
        return []
    return [
        Listing(
            title="The same nodes in runs of other sizes, if they fail independently at"
            " this rate",
            columns=_PROJECTED,
            rows=[_size(one) for one in rows.to_dicts()],
            sql=_sql.filled(
                _SIZES_SQL,
                cluster=_sql.literal(row["cluster"]),
                sizes=", ".join(map(str, _SIZES)),
            ),
        )
    ]


def _size(one: Row) -> tuple[str, ...]:
    peer = one["peer_mtbf_ns"]
    theirs = f"{duration(float(peer))}, {one['peer_basis']}" if peer else ""
    return (
        grouped(one["gpus"]),
        grouped(one["nodes"]),
        mean_time(one, ""),
        theirs or "\N{EN DASH}",
    )


def table_5() -> Notes:
    """Return Llama 3's interruptions by component, with our own percentages."""
    total = sum(count for *_, count, _ in LLAMA_3_CAUSES)
    facts = [
        (component, f"{grouped(count)}, {_own(count, total, printed)}")
        for component, _, count, printed in LLAMA_3_CAUSES
    ]
    return Notes(
        f"Llama 3's {total} unplanned interruptions by component (arXiv 2407.21783)",
        [*facts, ("Footnote", _FOOTNOTE)],
    )


def _own(count: int, total: int, printed: float) -> str:
    own = round(100 * count / total, 1)
    beside = "" if own == printed else f" (printed: {printed}{THIN}%)"
    return f"{own}{THIN}%{beside}"
