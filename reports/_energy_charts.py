"""Energy of each GPU, or of each node where there are many."""

from typing import Final

import polars as pl

from reports import _sql
from reports._numbers import compact, percent
from reports._section import Chart, Scope
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
    by_host = gpus > _MOST_GPUS
    numbers = _numbers(measured, by_host=by_host)
    largest = float(str(numbers["energy_j"].max()))
    size, unit = next(
        step for step in ((3.6e6, "kWh"), (1e3, "kJ"), (0.0, "J")) if largest >= step[0]
    )
    divisor = size or 1.0
    drawn = _rows(numbers, divisor, unit)
    each = "node" if by_host else "GPU"
    tips = (
        ("who", each),
        ("text", "energy"),
        ("mean", "mean W"),
        ("peak", "peak W"),
        ("covered", "coverage"),
    )
    return [
        Chart(
            name="energy-gpus",
            title=f"Energy of each {each} [{unit}]",
            summary=f"{plural(numbers.height, 'bar')}, the longest {drawn['text'][0]},"
            f" {drawn['label'][0]}.",
            spec=bars.ranking(drawn, f"energy [{unit}]", tips),
            numbers=numbers,
            sql=_sql.filled(
                _SQL,
                who=_HOST_SQL if by_host else _GPU_SQL,
                where=_sql.where(
                    "energy_j IS NOT NULL", _held(measured), scope.sql(or_none=True)
                ),
                most=str(_MOST_GPUS),
            ),
            definition="Difference of the energy counter where there is one, else the"
            " trapezoid rule over real time stamps, nothing across gaps.",
            source="NVML energy counter; trapezoid rule",
            sample=f"{plural(gpus, 'GPU')} while runs held them, if any did; drawn: the"
            f" {plural(numbers.height, each)} with the most energy",
            blind_spots="GPU boards only, unless a level says otherwise: hosts, fans"
            " and cooling are not in it.",
        )
    ]


def _held(measured: pl.DataFrame) -> str:
    known = measured["run_id"].null_count() == 0
    return "run_id IS NOT NULL" if known else "run_id IS NULL"


def _numbers(measured: pl.DataFrame, *, by_host: bool) -> pl.DataFrame:
    who = (
        pl.coalesce("host", "cluster")
        if by_host
        else pl.concat_str("host", "gpu_uuid", separator=" ", ignore_nulls=True)
    )
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


def _rows(numbers: pl.DataFrame, divisor: float, unit: str) -> pl.DataFrame:
    return numbers.select(
        who=pl.col("who").map_elements(name, return_dtype=pl.String),
        label=pl.col("who").map_elements(short, return_dtype=pl.String),
        meaning=pl.lit("power"),
        value=pl.col("energy_j") / divisor,
        text=(pl.col("energy_j") / divisor).map_elements(
            lambda amount: f"{compact(amount)} {unit}", return_dtype=pl.String
        ),
        mean=_spoken("mean_w"),
        peak=_spoken("peak_w"),
        covered=pl.col("coverage_ratio").map_elements(percent, return_dtype=pl.String),
    )


def short(who: str) -> str:
    """Return a node with the start of its GPU's identity: enough to tell apart."""
    host, blank, gpu = who.rpartition(" ")
    return name(f"{host[:24]}{blank}{gpu[:12] if blank else gpu[:34]}", 40)


def _spoken(column: str) -> pl.Expr:
    said = pl.col(column).map_elements(compact, return_dtype=pl.String)
    return said.fill_null("not known")
