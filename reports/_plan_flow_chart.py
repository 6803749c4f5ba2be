"""Load of the fullest path, with one flow for each pair of ports and with more."""

from typing import Final

import polars as pl

from reports import _sql
from reports._numbers import grouped, significant
from reports._section import About, Chart
from reports._words import name, plural
from reports.theme import COLOURS

_SQL: Final = """\
SELECT flows_per_pair, paths, pairs, method, expected_ratio, p99_ratio
FROM flow_collisions
WHERE run_id = $run AND expected_ratio IS NOT NULL
ORDER BY flows_per_pair"""

_ABOUT: Final = About(
    definition="Flows of equal size, each hashed to one of equal paths: flows on the"
    " fullest path over flows of a path on average, expected and in the worst of 100"
    " hashes.",
    source="multinomial maximum, exact by truncated Poisson laws (Corrado, Stat."
    " Comput. 21, 2011), or seeded simulation; the method stands in the table",
    blind_spots="Real hashes are not uniform, flows not equal, and adaptive routing or"
    " packet spraying moves them. No counter of a switch is asked here.",
)

#: What is drawn of each way to split: its words, column and meaning.
_CASES: Final = (
    ("expected", "expected_ratio", "communication"),
    ("worst of 100", "p99_ratio", "waiting"),
)

_TIPS: Final = (("label", "flows"), ("text", "load"), ("method", "worked out"))


def chart(flows: pl.DataFrame, run_id: str) -> list[Chart]:
    """Return the load of the fullest path; nothing where no card tells paths.

    Args:
        flows: Rows of FlowCollisions of the run.
        run_id: The run.
    """
    from reports.charts import ratios

    known = flows.filter(pl.col("expected_ratio").is_not_null()).sort("flows_per_pair")
    if known.is_empty():
        return []
    columns = ("flows_per_pair", "paths", "pairs", "method")
    numbers = known.select(*columns, "expected_ratio", "p99_ratio")
    pairs, paths = (grouped(known[one].to_list()[0]) for one in ("pairs", "paths"))
    return [
        Chart(
            name="plan-flows",
            title="Load of the fullest path over the mean, dashed: even [1]",
            summary=f"Two bars for each of {plural(numbers.height, 'way')} to split a"
            " pair into flows: expected, and in the worst of 100 hashes; a dashed line"
            " stands where all paths are even.",
            spec=ratios.beside_one(
                _drawn(numbers), "fullest path over mean [1]", _TIPS
            ),
            numbers=numbers,
            sql=_sql.filled(_SQL, run=_sql.literal(run_id)),
            about=_ABOUT,
            sample=f"{pairs} pairs over {paths} paths, as the card of run"
            f" {name(run_id, 30)} has them; no measurement",
            legend={which: COLOURS[meaning] for which, _, meaning in _CASES},
        )
    ]


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    rows = [
        {
            "label": f"{plural(row['flows_per_pair'], 'flow')}, {which}",
            "meaning": meaning,
            "value": row[column],
            "text": f"{significant(row[column])} times",
            "brief": significant(row[column], 2),
            "method": row["method"],
        }
        for row in numbers.to_dicts()
        for which, column, meaning in _CASES
    ]
    return pl.DataFrame(rows)
