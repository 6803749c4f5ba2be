"""What each number of spare nodes costs in a day."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.spare_plans import SparePlans
from reports import _sql
from reports._numbers import compact, duration, percent, significant
from reports._rate_shown import Row
from reports._runs import MOST_ROWS
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import name, plural
from reports.dollars import dollars, in_words
from reports.theme import COLOURS

_SQL: Final = """\
SELECT spares, CAST(daily_waiting_gpu_ns AS DOUBLE) / 3.6e12 AS waiting_gpu_hours,
       CAST(daily_idle_gpu_ns AS DOUBLE) / 3.6e12 AS idle_gpu_hours,
       spare_free_ratio, is_best
FROM spare_plans
WHERE cluster = $cluster AND rate_case = 'estimate'
  AND spares BETWEEN $first AND $last
ORDER BY spares"""

_ABOUT: Final = About(
    definition="Waiting: the run's GPUs while more nodes are in repair than there are"
    " spares. Idle: GPUs of the spares. The number in repair is Poisson, its mean the"
    " rate of failures times the mean time of repair.",
    source="Palm 1943; rate of failures of nodes observed here, exact Poisson interval",
    blind_spots="Nodes that fail together need more. A run that can go on with fewer"
    " nodes waits less. Spares are counted as idle although others may use them.",
)

_PARTS: Final = {
    "waiting for repair": COLOURS["broken"],
    "idle spares": COLOURS["idle"],
}

_TIPS: Final = (("label", "spares"), ("part", "is"), ("text", "GPU-hours a day"))

_REPAIRS: Final = {
    "failures": "seen in the logs",
    "run_card": "from the run card",
    "setting": "assumed: setting spare_repair_h; the mean of the InfiniteHBD trace"
    " unless set",
}


def best_of(frames: Frames, cluster: str) -> dict[str, Row]:
    """Return the cheapest number of spares of a cluster, by case of its rate.

    Args:
        frames: The tables.
        cluster: The cluster.
    """
    rows = frames[SparePlans].filter((pl.col("cluster") == cluster) & pl.col("is_best"))
    return {row["rate_case"]: row for row in rows.collect().to_dicts()}


def sentence(best: dict[str, Row], scope: Scope) -> str:
    """Return how many spares pay, between the ends of the rate's interval.

    Args:
        best: Rows of `best_of`.
        scope: Prices of the page.
    """
    row, low, high = best["estimate"], best["low"]["spares"], best["high"]["spares"]
    run = f"{plural(row['nodes'], 'node')} of {name(row['run_id'], 30)}"
    if row["withheld"]:
        return (
            f"How many spare nodes pay for {run} is not known: {row['withheld']}. The"
            f" chart holds only if repairs took {_away(row)}"
            f"{_assumed(row)}."
        )
    cost = dollars(int(row["daily_cost_gpu_ns"]), scope.price(row["run_id"]))
    range_ = f" ({low} to {high} at the ends of the rate's interval)"
    return (
        f"{_count(row['spares'])}{range_ if low != high else ''} for {run}: waiting"
        f" and idle spares together cost {in_words(cost)} a day{_free(row)}."
        f" {_seen(row)}"
    )


def _count(spares: int) -> str:
    """Return how many spares pay, none in words."""
    if not spares:
        return "No spare node pays"
    return f"{plural(spares, 'spare node')} {'pays' if spares == 1 else 'pay'}"


def _free(row: Row) -> str:
    if not row["spares"]:
        return ""
    ratio = percent(row["spare_free_ratio"])
    return f", and a spare is free for {ratio} of failures"


def _seen(row: Row) -> str:
    """Return how long a node is away, and where that is from."""
    if row["repair_basis"] != "attempts":
        return (
            f"A node is away for {_away(row)} on average,"
            f" {_REPAIRS[row['repair_basis']]}; {significant(row['in_repair'])} are in"
            " repair at a time."
        )
    back = f"{row['returned_nodes']} of {plural(row['failed_nodes'], 'failed node')}"
    return (
        f"{back} were in the run's very next attempt; on average a run lacked a failed"
        f" node for {_away(row)} more than it waits after stops that took none."
    )


def _away(row: Row) -> str:
    return duration(float(row["repair_ns"]))


def _assumed(row: Row) -> str:
    return f" ({_REPAIRS['setting']})" if row["repair_basis"] == "setting" else ""


def chart(frames: Frames, best: dict[str, Row]) -> list[Chart]:
    """Return what numbers of spares around the best one cost.

    Args:
        frames: The tables.
        best: Rows of `best_of`.
    """
    from reports.charts import bars

    row = best["estimate"]
    first = max(0, row["spares"] - MOST_ROWS // 2)
    last = first + MOST_ROWS - 1
    numbers = _numbers(frames, row["cluster"], first, last)
    return [
        Chart(
            name="lemon-spares",
            title=f"Cost of spare nodes in a day{_if(row)} [GPU-hours]",
            summary=f"A bar for each number of spares; {row['spares']} costs"
            f" least{_if(row)}.",
            spec=bars.stack(_drawn(numbers), "GPU-hours a day [h]", _PARTS, _TIPS),
            numbers=numbers,
            sql=_sql.filled(
                _SQL,
                cluster=_sql.literal(row["cluster"]),
                first=str(first),
                last=str(last),
            ),
            about=_ABOUT,
            sample=f"{plural(row['failures'], 'failure')} of nodes in"
            f" {duration(float(row['node_time_ns']))} of node time",
            legend=_PARTS,
        )
    ]


def _if(row: Row) -> str:
    """Return what must hold for the chart where it is no advice."""
    return f", if repairs took {_away(row)}" if row["withheld"] else ""


def _numbers(frames: Frames, cluster: str, first: int, last: int) -> pl.DataFrame:
    rows = frames[SparePlans].filter(
        (pl.col("cluster") == cluster)
        & (pl.col("rate_case") == "estimate")
        & pl.col("spares").is_between(first, last)
    )
    return (
        rows.sort("spares")
        .select(
            "spares",
            waiting_gpu_hours=pl.col("daily_waiting_gpu_ns").cast(pl.Float64) / 3.6e12,
            idle_gpu_hours=pl.col("daily_idle_gpu_ns").cast(pl.Float64) / 3.6e12,
            spare_free_ratio="spare_free_ratio",
            is_best="is_best",
        )
        .collect()
    )


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    labelled = numbers.select(
        key=pl.col("spares").cast(pl.String),
        label=pl.when("is_best")
        .then(pl.col("spares").cast(pl.String) + " (least)")
        .otherwise(pl.col("spares").cast(pl.String)),
        total=said_by(pl.col("waiting_gpu_hours") + pl.col("idle_gpu_hours"), compact),
        **dict(zip(_PARTS, ("waiting_gpu_hours", "idle_gpu_hours"), strict=True)),
    )
    parts = labelled.unpivot(
        list(_PARTS),
        index=["key", "label", "total"],
        variable_name="part",
        value_name="value",
    )
    return parts.with_columns(text=said_by("value", compact))
