"""GPUs that were slowed: how long, what for, and what it cost."""

from typing import Final

import polars as pl

from reports import _sql
from reports._energy_charts import short
from reports._numbers import compact, duration, percent, significant
from reports._runs import MOST_ROWS
from reports._section import About, Chart, Column, Listing, Scope
from reports._texts import named, said_by
from reports._throttle_words import SLOWED_FROM, slowed
from reports._words import name, plural, said
from reports.dollars import dollars, in_words

_SQL: Final = """\
SELECT run_id, host, gpu_uuid, cause, basis, throttled_ns, throttled_ratio,
       mean_clock_mhz, mean_w, slowdown_ratio, lost_gpu_ns
FROM throttling
${where}ORDER BY throttled_ratio DESC, run_id, host, gpu_uuid, cause"""

_CHART_SQL: Final = """\
SELECT concat_ws(' ', host, gpu_uuid) AS who, cause, throttled_ratio
FROM throttling
${where}ORDER BY throttled_ratio DESC, who, cause
LIMIT $most"""

_ABOUT: Final = About(
    definition="Counters of time slowed, whose falls are resets, over the time between"
    " their first and last reading; else the share of the time in which a sample's"
    " bit of the reason was set.",
    source="NVML clock event reasons and their counters",
    blind_spots="Bits miss what happens between samples. A GPU at its cap by plan is"
    " slowed, too: what matters is whether it is slower than its peers.",
)


def charts(rows: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return the GPUs slowed the most; nothing where none was.

    Args:
        rows: Rows of Throttling.
        scope: Runs of the page.
    """
    from reports.charts import bars

    gpu = pl.concat_str("host", "gpu_uuid", separator=" ", ignore_nulls=True)
    some = slowed(rows).select(gpu.alias("who"), "cause", "throttled_ratio")
    numbers = some.sort(
        ["throttled_ratio", "who", "cause"], descending=[True, False, False]
    ).head(MOST_ROWS)
    if numbers.is_empty():
        return []
    drawn = numbers.select(
        who=named("who"),
        cause=said_by("cause", said),
        label=said_by("who", short),
        meaning=pl.lit("power"),
        value=100 * pl.col("throttled_ratio"),
        text=pl.concat_str(
            said_by("throttled_ratio", percent),
            pl.lit(", "),
            said_by("cause", said),
        ),
    )
    where = _sql.where(f"throttled_ratio >= {SLOWED_FROM}", scope.sql())
    tips = (("who", "GPU"), ("cause", "cause"), ("text", "of its time"))
    return [
        Chart(
            name="power-throttled",
            title="Share of its time that a GPU was throttled [%]",
            summary=f"{plural(drawn.height, 'bar')}, the longest {drawn['text'][0]} of"
            f" {drawn['label'][0]}.",
            spec=bars.ranking(drawn, "share of the time [%]", tips),
            numbers=numbers,
            sql=_sql.filled(_CHART_SQL, where=where, most=str(MOST_ROWS)),
            about=_ABOUT,
            sample=f"{plural(numbers.height, 'GPU and cause', 'GPUs and causes')}",
        )
    ]


def listings(rows: pl.DataFrame, scope: Scope) -> list[Listing]:
    """Return the GPUs that were slowed, the most first; nothing where none was.

    Args:
        rows: Rows of Throttling.
        scope: Runs of the page, and their prices.
    """
    some = slowed(rows)
    if some.is_empty():
        return []
    shown = some.head(MOST_ROWS)
    more = some.height - shown.height
    where = _sql.where(f"throttled_ratio >= {SLOWED_FROM}", scope.sql())
    return [
        Listing(
            title="Throttled GPUs",
            columns=_COLUMNS,
            rows=[_row(row, scope) for row in shown.to_dicts()],
            more=plural(more, "more row") if more else "",
            sql=_sql.filled(_SQL, where=where),
        )
    ]


_COLUMNS: Final = (
    Column("GPU"),
    Column("Run"),
    Column("Cause"),
    Column("Time", "Time throttled.", is_number=True),
    Column(
        "Share",
        "Of all the time observed, with and without load; what speaks for a slow GPU"
        " is of the steps in which it was slow.",
        is_number=True,
    ),
    Column("Known by"),
    Column(
        "Clock MHz",
        "Mean under load over the whole run; what speaks for a slow GPU is a median.",
        is_number=True,
    ),
    Column("Mean W", "Under load.", is_number=True),
    Column("Slower by", "Own work over its peers', less one.", is_number=True),
    Column("Held up", "GPU time that this cost all ranks.", is_number=True),
)


def _row(row: dict[str, object], scope: Scope) -> tuple[str, ...]:
    where = [str(found) for found in (row["host"], row["gpu_uuid"]) if found]
    run_id, ratio, lost = str(row["run_id"]), row["slowdown_ratio"], row["lost_gpu_ns"]
    cost = (
        "" if lost is None else in_words(dollars(int(str(lost)), scope.price(run_id)))
    )
    clock, watts = row["mean_clock_mhz"], row["mean_w"]
    return (
        short(" ".join(where)),
        name(run_id, 24),
        said(str(row["cause"])),
        duration(int(str(row["throttled_ns"]))),
        percent(float(str(row["throttled_ratio"]))),
        said(str(row["basis"])),
        compact(clock) if isinstance(clock, float) else "not known",
        significant(watts) if isinstance(watts, float) else "not known",
        percent(ratio - 1) if isinstance(ratio, float) else "not flagged",
        cost or "nothing flagged",
    )
