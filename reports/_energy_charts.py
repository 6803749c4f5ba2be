"""Energy of each GPU, or of each node where there are many."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._numbers import THIN, compact, percent
from reports._section import About, Chart, Scope
from reports._texts import named, said_by
from reports._words import name, plural

#: Bars that are read at once: with more GPUs a bar is a node.
_MOST_GPUS: Final = 16

_SQL: Final = """\
SELECT $who AS who, sum(energy_j) AS energy_j,
       sum(energy_j) / sum(energy_j / mean_w) FILTER (WHERE mean_w > 0) AS mean_w,
       max(peak_w) AS peak_w, min(coverage_ratio) AS coverage_ratio
FROM energy
${where}GROUP BY who
ORDER BY energy_j DESC, who
LIMIT $most"""

_GPU_SQL: Final = "concat_ws(' ', host, gpu_uuid)"
_HOST_SQL: Final = "coalesce(host, cluster)"

_ABOUT: Final = About(
    definition="Difference of the energy counter where there is one, else the"
    " trapezoid rule over real time stamps, nothing across gaps. Mean: energy over time"
    " measured. Highest reading: the greatest of instant and averaged power.",
    source="NVML energy counter; trapezoid rule",
    blind_spots="What was drawn in time without samples is not in a bar: a GPU that was"
    " measured for less time than the others is not thriftier. GPU boards only, unless"
    " a level says otherwise: hosts, fans and cooling are not in it.",
)

#: Coverage below which a bar says that it is of a part of the time. [1]
COVERED: Final = 0.995

#: Units that the largest bar is said in, from how many joules on. [J]
_UNITS: Final = ((3.6e6, "kWh"), (1e3, "kJ"), (1.0, "J"))

_TIPS: Final = (
    ("who", "who"),
    ("text", "energy"),
    ("mean", "mean W"),
    ("peak", "highest reading W"),
    ("covered", "coverage"),
)


def charts(measured: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return the energy of each GPU or node; nothing where none was measured.

    Args:
        measured: Rows of Energy with an energy.
        scope: Runs of the page.
    """
    from reports.charts import bars

    if measured.is_empty():
        return []
    gpus = measured.select("cluster", "host", "gpu_uuid").n_unique()
    each = "node" if gpus > _MOST_GPUS else "GPU"
    numbers = _numbers(measured, by_host=each == "node")
    size, unit = _unit(numbers)
    drawn = _drawn(numbers, size, unit)
    return [
        Chart(
            name="energy-gpus",
            title=f"Energy of each {each} [{unit}]",
            summary=f"{plural(numbers.height, 'bar')}, the longest {drawn['text'][0]},"
            f" {drawn['label'][0]}.",
            spec=bars.ranking(drawn, f"energy [{unit}]", _TIPS),
            numbers=numbers,
            sql=_query(measured, scope, by_host=each == "node"),
            about=_ABOUT,
            sample=f"{plural(gpus, 'GPU')} while runs held them, if any did; drawn: the"
            f" {plural(numbers.height, each)} with the most energy",
        )
    ]


def _unit(numbers: pl.DataFrame) -> tuple[float, str]:
    largest = float(str(numbers["energy_j"].max()))
    return next((step for step in _UNITS if largest >= step[0]), _UNITS[-1])


def _query(measured: pl.DataFrame, scope: Scope, *, by_host: bool) -> str:
    held = measured["run_id"].null_count() == 0
    where = _sql.where(
        "energy_j IS NOT NULL",
        "run_id IS NOT NULL" if held else "run_id IS NULL",
        scope.sql(or_none=True),
    )
    who = _HOST_SQL if by_host else _GPU_SQL
    return _sql.filled(_SQL, who=who, where=where, most=str(_MOST_GPUS))


def _numbers(measured: pl.DataFrame, *, by_host: bool) -> pl.DataFrame:
    gpu = pl.concat_str("host", "gpu_uuid", separator=" ", ignore_nulls=True)
    who = pl.coalesce("host", "cluster") if by_host else gpu
    energy = pl.col("energy_j").sum()
    drawing = pl.col("mean_w") > 0
    seconds = (pl.col("energy_j") / pl.col("mean_w")).filter(drawing).sum()
    return (
        measured.group_by(who=who)
        .agg(
            energy.alias("energy_j"),
            mean_w=pl.when(seconds > 0).then(energy / seconds),
            peak_w=pl.col("peak_w").max(),
            coverage_ratio=pl.col("coverage_ratio").min(),
        )
        .sort(["energy_j", "who"], descending=[True, False])
        .head(_MOST_GPUS)
    )


def _drawn(numbers: pl.DataFrame, size: float, unit: str) -> pl.DataFrame:
    amount = pl.col("energy_j") / size
    said = said_by(amount, lambda found: f"{compact(found)}{THIN}{unit}")
    part = phrase(" in {} of the time", said_by("coverage_ratio", percent))
    brief = phrase(" ({})", said_by("coverage_ratio", percent))
    is_part = (pl.col("coverage_ratio") < COVERED).fill_null(value=False)
    return numbers.select(
        who=named("who"),
        label=said_by("who", short),
        meaning=pl.lit("power"),
        value=amount,
        text=pl.concat_str(said, pl.when(is_part).then(part).otherwise(pl.lit(""))),
        brief=pl.concat_str(said, pl.when(is_part).then(brief).otherwise(pl.lit(""))),
        mean=said_by("mean_w", compact).fill_null("not known"),
        peak=said_by("peak_w", compact).fill_null("not known"),
        covered=said_by("coverage_ratio", percent),
    )


def short(who: str) -> str:
    """Return a node with the start of its GPU's identity: enough to tell apart.

    Args:
        who: Node and GPU, or one of them.
    """
    host, blank, gpu = who.rpartition(" ")
    return name(f"{host[:24]}{blank}{gpu[:12] if blank else gpu[:34]}", 40)
