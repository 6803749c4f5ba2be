"""Which communication is exposed, one bar for each kind and axis of its groups."""

from typing import Any, Final

import polars as pl

from reports import _sql
from reports._numbers import percent
from reports._overlap_words import both_in_words
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import plural
from reports.theme import COLOURS, HIDDEN

#: Bars that are read at once.
_MOST_BARS: Final = 10

#: Exposed together with other communication: the blue of communication, lighter.
SHARED: Final = "#8fb3e3"

#: Parts of the time that a kind is on, in the order of drawing.
PARTS: Final = {
    "exposed alone": COLOURS["communication"],
    "exposed beside other communication": SHARED,
    "hidden by compute": HIDDEN,
}

_UNIT: Final = "share of the traced time [%]"

_ABOUT: Final = About(
    definition="The union of a kind's kernels on a device, cut into what compute hides,"
    " what is exposed alone, and what is exposed while another kind is on, too. Exposed"
    " alone of all bars, and the time exposed to several at once, add up to the exposed"
    " communication, to the nanosecond.",
    source="definition of overlap, kind by kind; what a group is for is told by its"
    " description, or by its members and the layout on the run card",
    blind_spots="A kernel also waits for late ranks: exposed is not transfer. Where a"
    " trace describes no groups and no run card tells the layout, what they are for is"
    " unknown, and bars carry the kind alone. A SendRecv kernel that names no peer may"
    " be an all-to-all.",
)

_TIPS: Final = (("label", "what"), ("part", "part"), ("text", "share"))

_SQL: Final = """\
WITH traced AS (
  SELECT sum(span_ns) AS span_ns FROM overlap
  $whole)
SELECT parallel_kind, kind,
       sum(exposed_alone_ns) / any_value(traced.span_ns) AS "exposed alone",
       sum(exposed_ns - exposed_alone_ns) / any_value(traced.span_ns)
         AS "exposed beside other communication",
       sum(overlapped_ns) / any_value(traced.span_ns) AS "hidden by compute"
FROM overlap_groups, traced
${where}GROUP BY parallel_kind, kind
HAVING sum(communication_ns) > 0 AND any_value(traced.span_ns) > 0
ORDER BY sum(exposed_ns) DESC, sum(communication_ns) DESC, parallel_kind, kind
LIMIT $most"""


def shares(groups: pl.LazyFrame, span_ns: int) -> pl.DataFrame:
    """Return how much of the traced time each kind takes, the most exposed first.

    Args:
        groups: Rows of OverlapGroups.
        span_ns: Traced time of all devices. [ns]
    """
    of_kinds = groups.filter(
        pl.col("split") == "parallel_and_kind",
        pl.col("step").is_null(),
        ~pl.col("is_shared"),
    )
    sums = of_kinds.group_by("parallel_kind", "kind").agg(
        pl.col(f"{name}_ns").cast(pl.Int128).sum()
        for name in ("communication", "exposed", "exposed_alone", "overlapped")
    )
    order = ["exposed_ns", "communication_ns", "parallel_kind", "kind"]
    alone, exposed = pl.col("exposed_alone_ns"), pl.col("exposed_ns")
    times = (alone, exposed - alone, pl.col("overlapped_ns"))
    return (
        sums.filter((pl.col("communication_ns") > 0) & (span_ns > 0))
        .sort(order, descending=[True, True, False, False])
        .select(
            "parallel_kind",
            "kind",
            *[
                (time.cast(pl.Float64) / float(span_ns)).alias(part)
                for part, time in zip(PARTS, times, strict=True)
            ],
        )
        .collect()
    )


def chart(found: pl.DataFrame, devices: int, scope: Scope) -> list[Chart]:
    """Return the bars; nothing where there is no communication.

    Args:
        found: Rows of `shares`.
        devices: Traced devices. [1]
        scope: Runs of the page.
    """
    from reports.charts import bars

    numbers = found.head(_MOST_BARS)
    if numbers.is_empty():
        return []
    more = found.height - numbers.height
    left_out = f"; {plural(more, 'less exposed kind')} left out" if more else ""
    return [
        Chart(
            name="overlap-kinds",
            title="Communication by what it is for: hidden or exposed, as a share of"
            " the traced time [%]",
            summary=f"{plural(numbers.height, 'bar')}, the most exposed first, cut into"
            f" {', '.join(PARTS)}.",
            spec=bars.stack(_drawn(numbers), _UNIT, PARTS, _TIPS, "~%"),
            numbers=numbers,
            sql=_query(scope),
            about=_ABOUT,
            sample=f"{plural(devices, 'trace and device', 'traces and devices')}"
            f"{left_out}",
            legend=PARTS,
        )
    ]


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    who, total = pl.struct("parallel_kind", "kind"), pl.sum_horizontal(list(PARTS))
    shown = numbers.with_row_index("key").with_columns(
        label=said_by(who, _said), total=said_by(total, percent)
    )
    parts = shown.unpivot(
        list(PARTS),
        index=["key", "label", "total"],
        variable_name="part",
        value_name="value",
    )
    return parts.with_columns(text=said_by("value", percent))


def _said(row: dict[str, Any]) -> str:
    return both_in_words(row["parallel_kind"], row["kind"])


def _query(scope: Scope) -> str:
    split = "split = 'parallel_and_kind'"
    whole = _sql.where("step IS NULL", scope.sql()).replace("\n", "\n  ").rstrip()
    where = _sql.where(split, "step IS NULL", "NOT is_shared", scope.sql())
    return _sql.filled(_SQL, whole=whole, where=where, most=str(_MOST_BARS))
