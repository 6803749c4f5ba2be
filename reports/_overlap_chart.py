"""What traced GPUs did, one bar for each rank or group of ranks."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._numbers import percent
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import name, plural
from reports.theme import COLOURS, COPIES, HIDDEN

#: Bars that are read at once.
_MOST_BARS: Final = 16

#: Parts of the traced time, in the order of drawing; they add up to all of it.
_PARTS: Final = {
    "compute": (pl.col("compute_ns") - pl.col("overlapped_ns"), COLOURS["productive"]),
    "compute over communication": (pl.col("overlapped_ns"), HIDDEN),
    "exposed communication": (
        pl.col("exposed_communication_ns"),
        COLOURS["communication"],
    ),
    "exposed copies": (pl.col("exposed_memory_ns"), COPIES),
    "idle": (pl.col("idle_ns"), COLOURS["idle"]),
}

#: Letters of a trace's name that tell it from others.
_TRACE_LETTERS: Final = 6

_UNIT: Final = "share of the traced time [%]"

_ABOUT: Final = About(
    definition="The union of intervals over the streams of a device. Compute, exposed"
    " communication, exposed copies and idle add up to the traced time, to the"
    " nanosecond.",
    source="definition of Holistic Trace Analysis, in whole nanoseconds",
    blind_spots="A profiler slows the host: idle time may be larger than without.",
)

_TIPS: Final = (("label", "who"), ("part", "part"), ("text", "share"))

_SQL: Final = """\
SELECT $label AS label, $first AS first_rank,
       sum(compute_ns - overlapped_ns) / sum(span_ns) AS "compute",
       sum(overlapped_ns) / sum(span_ns) AS "compute over communication",
       sum(exposed_communication_ns) / sum(span_ns) AS "exposed communication",
       sum(exposed_memory_ns) / sum(span_ns) AS "exposed copies",
       sum(idle_ns) / sum(span_ns) AS "idle"
FROM overlap
${where}GROUP BY label, first_rank
HAVING sum(span_ns) > 0
ORDER BY first_rank NULLS LAST, label
LIMIT $most"""

_DEVICE_SQL: Final = (
    "CASE WHEN rank IS NULL THEN concat('device ', device, ' of ', trace_id) END"
)


def chart(whole: pl.DataFrame, scope: Scope) -> Chart:
    """Return the bars.

    Args:
        whole: Rows of Overlap for whole traces.
        scope: Runs of the page.
    """
    from reports.charts import bars

    several = whole["run_id"].n_unique() > 1
    height = 1 if several else _height(whole)
    numbers = _numbers(whole, height, several=several)
    colours = {part: colour for part, (_, colour) in _PARTS.items()}
    one = "rank" if whole["rank"].count() else "device"
    each = "run" if several else one if height == 1 else f"{height} ranks"
    seen = plural(whole.height, "trace and device", "traces and devices")
    return Chart(
        name="overlap-ranks",
        title="What traced GPUs did, as a share of the traced time [%]",
        summary=f"{plural(numbers.height, 'bar')}, one for each {each}, cut into"
        f" {', '.join(_PARTS)}.",
        spec=bars.stack(_drawn(numbers, height), _UNIT, colours, _TIPS, ".0%"),
        numbers=numbers,
        sql=_query(scope, height, several=several),
        about=_ABOUT,
        sample=f"{seen}; one bar for each {each}, at most {_MOST_BARS} bars",
        legend=colours,
    )


def _drawn(numbers: pl.DataFrame, height: int) -> pl.DataFrame:
    who = pl.struct("label", "first_rank")
    told = numbers["label"].drop_nulls().to_list()
    several = len({label.rpartition(" of ")[2] for label in told}) > 1
    shown = numbers.with_row_index("key").with_columns(
        label=said_by(who, lambda row: _said(row, height, several=several))
    )
    parts = shown.unpivot(
        list(_PARTS), index=["key", "label"], variable_name="part", value_name="value"
    )
    return parts.with_columns(text=said_by("value", percent))


def _height(whole: pl.DataFrame) -> int:
    ranks = whole["rank"].drop_nulls()
    if ranks.is_empty() or ranks.n_unique() <= _MOST_BARS:
        return 1
    return -(-(int(str(ranks.max())) + 1) // _MOST_BARS)


def _numbers(whole: pl.DataFrame, height: int, *, several: bool) -> pl.DataFrame:
    first = pl.lit(None, pl.Int32) if several else pl.col("rank") // height * height
    device = phrase("device {} of {}", "device", "trace_id")
    trace = pl.when(pl.col("rank").is_null()).then(device)
    label = pl.col("run_id") if several else trace
    span = pl.col("span_ns").sum()
    return (
        whole.group_by(label=label, first_rank=first)
        .agg(
            span.alias("span_ns"),
            *[(part.sum() / span).alias(title) for title, (part, _) in _PARTS.items()],
        )
        .filter(pl.col("span_ns") > 0)
        .drop("span_ns")
        .sort("first_rank", "label", nulls_last=True)
        .head(_MOST_BARS)
    )


def _query(scope: Scope, height: int, *, several: bool) -> str:
    return _sql.filled(
        _SQL,
        label="run_id" if several else _DEVICE_SQL,
        first="NULL" if several else f"rank // {height} * {height}",
        where=_sql.where("step IS NULL", scope.sql()),
        most=str(_MOST_BARS),
    )


def _said(row: dict[str, object], height: int, *, several: bool) -> str:
    """Return what a bar is of; the trace is named where there are several."""
    first = row["first_rank"]
    if not isinstance(first, int):
        device, is_device, trace = str(row["label"]).partition(" of ")
        if not is_device:
            return name(device, 24)
        return f"{device}, trace {trace[:_TRACE_LETTERS]}" if several else device
    return (
        f"rank {first}"
        if height == 1
        else f"ranks {first}\N{EN DASH}{first + height - 1}"
    )
