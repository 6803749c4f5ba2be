"""What was measured over what was planned, line by line."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from reports import _sql
from reports._numbers import significant
from reports._plan_titles import title
from reports._plan_words import beside
from reports._section import About, Chart
from reports._words import listed, name, plural
from reports.theme import COLOURS, Meaning

#: Lines that are drawn: what a person takes in at once.
_MOST: Final = 14

#: Above so many times the plan a bar would dwarf the others: it is in the tables.
RATIO_MAX: Final = 10

#: Meaning of each part of a plan on the page.
MEANINGS: Final[Mapping[str, Meaning]] = {
    "cost": "paid",
    "compute": "productive",
    "memory": "idle",
    "layout": "waiting",
    "traffic": "communication",
    "collectives": "communication",
    "fabric": "communication",
    "data": "stalled",
    "failures": "broken",
    "checkpoints": "stalled",
    "power": "power",
}

_SQL: Final = """\
SELECT section, name, unit, value, measured, measured / value AS ratio
FROM plans
WHERE run_id = $run
  AND measured_from NOT LIKE 'this line%'
  AND value <> 0 AND measured / value <= $most_times
ORDER BY number
LIMIT $most"""

_ABOUT: Final = About(
    definition="Measured over planned, from each line's own sources; one is as planned."
    " Lines that only follow from the length of a step are in the tables.",
    source="run card; formulas beside each line",
    blind_spots="Times of communication as traced contain waiting for late ranks, which"
    " no plan has. A run may be planned with numbers that were measured before.",
)

_TIPS: Final = (
    ("label", "line"),
    ("planned", "planned"),
    ("found", "measured"),
    ("text", "difference"),
    ("basis", "from"),
)


def chart(plan: pl.DataFrame, run_id: str) -> list[Chart]:
    """Return measured over planned of a run; nothing where nothing was measured.

    Args:
        plan: Rows of Plans of the run, in order of the plan.
        run_id: The run.
    """
    from reports.charts import ratios

    numbers = _numbers(plan)
    if numbers.is_empty():
        return []
    lines = plural(numbers.height, "line")
    query = {"run": _sql.literal(run_id), "most": str(_MOST)}
    return [
        Chart(
            name="plan-measured",
            title="Measured over planned, dashed: as planned [1]",
            summary=f"A bar for each of {lines}, from zero; a dashed line stands where"
            " what was measured is what was planned.",
            spec=ratios.beside_one(
                _drawn(numbers, plan),
                "measured over planned [1]",
                _TIPS,
            ),
            numbers=numbers,
            sql=_sql.filled(_SQL, **query, most_times=str(RATIO_MAX)),
            about=_ABOUT,
            sample=f"{lines} of run {name(run_id, 30)}, none beyond {RATIO_MAX} times",
            legend=_legend(numbers),
        )
    ]


def _legend(numbers: pl.DataFrame) -> dict[str, str]:
    """Return which parts of a plan a colour stands for."""
    parts: dict[str, list[str]] = {}
    for section in numbers["section"].unique(maintain_order=True):
        parts.setdefault(COLOURS[MEANINGS[section]], []).append(section)
    return {listed(names, len(names)): colour for colour, names in parts.items()}


def _numbers(plan: pl.DataFrame) -> pl.DataFrame:
    ratio = pl.col("measured") / pl.col("value")
    own = ~pl.col("measured_from").str.starts_with("this line")
    drawn = plan.filter(own, pl.col("value") != 0, ratio <= RATIO_MAX)
    told = drawn.sort("number").head(_MOST)
    columns = ("section", "name", "unit", "value", "measured")
    return told.select(*columns, ratio=ratio)


def _drawn(numbers: pl.DataFrame, plan: pl.DataFrame) -> pl.DataFrame:
    basis = dict(plan.select("name", "measured_from").iter_rows())
    rows = [
        {
            "label": title(row["name"]),
            "meaning": MEANINGS[row["section"]],
            "value": row["ratio"],
            "brief": significant(row["ratio"], 2),
            **_said(row),
            "basis": basis[row["name"]],
        }
        for row in numbers.to_dicts()
    ]
    return pl.DataFrame(rows)


def _said(row: dict[str, Any]) -> dict[str, str]:
    words = beside(row | {"difference_ratio": row["ratio"] - 1})
    return dict(zip(("planned", "found", "text"), words, strict=True))
