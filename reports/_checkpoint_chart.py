"""What every interval between saves would waste, with the one in use and the best."""

from math import log
from typing import Final

import polars as pl

from analysis import Frames
from analysis.checkpoint_plans import CheckpointCurves
from reports import _sql
from reports._checkpoint_shown import Row, Shown, every
from reports._numbers import percent
from reports._section import About, Chart
from reports._words import plural
from reports.theme import COLOURS, INK

#: Parts of the waste from the ground up: what an interval cannot change is lowest.
_PARTS: Final = {
    "downtime and restart": ("restart_ratio", COLOURS["idle"]),
    "work done again": ("rework_ratio", COLOURS["broken"]),
    "stalls of saves": ("write_ratio", COLOURS["stalled"]),
}

#: Points nearer than this carry one label: their words would cover each other. [1]
_APART: Final = 1.15

_LABELS: Final = {"in_use": "in use", "exact": "best"}

_COLUMNS: Final = (
    "restart_ratio",
    "rework_ratio",
    "write_ratio",
    "waste_ratio",
    "waste_low_ratio",
    "waste_high_ratio",
)

_SQL: Final = """\
SELECT 'curve' AS point, interval_ns / 1e9 AS interval_s, $columns
FROM checkpoint_curves
WHERE run_id = $run
UNION ALL
SELECT method, interval_ns / 1e9, $columns
FROM checkpoint_plans
WHERE run_id = $run AND method IN ('in_use', 'exact') AND waste_ratio IS NOT NULL
ORDER BY point, interval_s"""

_ABOUT: Final = About(
    definition="Share of the time from the first start to the last stop that is not"
    " useful work, for each interval T of work between two saves: 1 \N{MINUS SIGN} T /"
    " ((M + D) exp(R / M) (exp((T + w) / M) \N{MINUS SIGN} 1)) with M the mean time"
    " between interruptions, w the stall of a save, D downtime and R restart; R is"
    " longer by the time until a save is safe. Best: w + M (1 + W0(\N{MINUS SIGN}exp("
    "\N{MINUS SIGN}w / M \N{MINUS SIGN} 1))) less w. Dashed: the same at both ends of"
    " M's range.",
    source="Daly, FGCS 22, 2006; Aupy, Robert and Vivien, 2015",
    blind_spots="Interruptions are taken to come without memory; those of real clusters"
    " come in bursts, which makes the best interval a little longer. Downtime is a mean"
    " of what was seen. Saves are taken to succeed.",
)


def chart(one: Shown, frames: Frames) -> list[Chart]:
    """Return the curve of a run; none where its stall or its MTBF is not known.

    Args:
        one: The run with most to win.
        frames: The tables.
    """
    from reports.charts import curves

    curve = frames[CheckpointCurves].filter(pl.col("run_id") == one.run_id).collect()
    if curve.is_empty():
        return []
    numbers = _numbers(curve, one)
    points = _points(one, curve)
    colours = {part: colour for part, (_, colour) in _PARTS.items()}
    return [
        Chart(
            name="checkpoint-interval",
            title="Time that is not useful work, by the work between two saves [%]",
            summary=f"A curve over {curve.height} intervals, cut into"
            f" {', '.join(_PARTS)}; marked are {', '.join(points['label'])}.",
            spec=curves.layered(
                _drawn(curve), points, _TITLES, colours, (("tip", "interval"),)
            ),
            numbers=numbers,
            sql=_query(one.run_id),
            about=_ABOUT,
            sample=f"{plural(one.run['save_count'], 'save')},"
            f" {plural(one.run['interruption_count'], 'unplanned interruption')};"
            f" {one.run['mtbf_words']}",
            legend=colours | _ends(curve),
        )
    ]


def _ends(curve: pl.DataFrame) -> dict[str, str]:
    """Return the line of the legend for both ends, where there are any."""
    ends = curve.select("waste_low_ratio", "waste_high_ratio")
    known = sum(ends[name].count() for name in ends.columns)
    return {"ends of the range of the MTBF (dashed)": INK} if known else {}


_TITLES: Final = (
    "work between two saves, logarithmic [s to d]",
    "share of the time [%]",
)


def _query(run_id: str) -> str:
    columns = ", ".join(_COLUMNS)
    return _sql.filled(_SQL, run=_sql.literal(run_id), columns=columns)


def _numbers(curve: pl.DataFrame, one: Shown) -> pl.DataFrame:
    plans = [
        one.plans[method] for method in ("exact", "in_use") if _is_known(one, method)
    ]
    seconds = (pl.col("interval_ns") / 1e9).alias("interval_s")
    rows = curve.select(pl.lit("curve").alias("point"), seconds, *_COLUMNS)
    drawn = pl.DataFrame(plans, schema_overrides=dict(curve.schema)) if plans else None
    if drawn is None:
        return rows.sort("point", "interval_s")
    told = drawn.select(pl.col("method").alias("point"), seconds, *_COLUMNS)
    return pl.concat([rows, told]).sort("point", "interval_s")


def _is_known(one: Shown, method: str) -> bool:
    return one.plans.get(method, {}).get("waste_ratio") is not None


def _drawn(curve: pl.DataFrame) -> pl.DataFrame:
    """Return each part of each interval with where it starts and ends. [s, %]"""
    columns = [column for column, _ in _PARTS.values()]
    ends = [pl.sum_horizontal(columns[: place + 1]) for place in range(len(columns))]
    rows = [
        curve.select(
            x=pl.col("interval_ns") / 1e9,
            part=pl.lit(part),
            start=100 * (end - pl.col(column)),
            end=100 * end,
            low=100 * pl.col("waste_low_ratio"),
            high=100 * pl.col("waste_high_ratio"),
        )
        for (part, (column, _)), end in zip(_PARTS.items(), ends, strict=True)
    ]
    return pl.concat(rows)


def _points(one: Shown, curve: pl.DataFrame) -> pl.DataFrame:
    """Return the interval in use and the best, or one where they are alike."""
    known = {
        label: one.plans[method]
        for method, label in _LABELS.items()
        if _is_known(one, method)
    }
    if len(known) > 1 and _near(*known.values()):
        known = {" and ".join(known): known["in use"]}
    ordered = sorted(row["interval_ns"] for row in known.values())
    rows = [
        {
            "x": row["interval_ns"] / 1e9,
            "y": 100 * row["waste_ratio"],
            "zero": 0.0,
            "label": f"{label}: {percent(row['waste_ratio'])}",
            "tip": f"{label}: {every(row)}",
            "side": _side(row["interval_ns"], curve),
            "place": ordered.index(row["interval_ns"]),
        }
        for label, row in known.items()
    ]
    return pl.DataFrame(rows)


def _side(interval_ns: int, curve: pl.DataFrame) -> str:
    """Return on which side of its point a label has room."""
    ends = curve.select(
        least=pl.col("interval_ns").min(), most=pl.col("interval_ns").max()
    )
    least, most = ends.row(0)
    return "right" if log(interval_ns / least) < log(most / least) / 2 else "left"


def _near(one: Row, other: Row) -> bool:
    return abs(log(one["interval_ns"] / other["interval_ns"])) < log(_APART)
