"""Time of an all-reduce over its size, by algorithm: where one overtakes another."""

from typing import Final

import polars as pl

from analysis.collective_models import MODELS
from ingest.times import SECOND_NS
from reports import _sql
from reports._numbers import duration, size
from reports._section import About, Chart
from reports._words import name

#: Sizes that are drawn. [B]
_SIZES: Final = tuple(10.0**power for power in range(3, 11))

#: Shade of each algorithm; each has its shape and dashes, too.
_COLOURS: Final = dict(
    zip(MODELS, ("#2d63ad", "#7fb0e6", "#12305c", "#5a87a8"), strict=True)
)

_SQL: Final = """\
WITH told AS (
  SELECT name, value FROM plans WHERE run_id = $run AND value IS NOT NULL
),
models AS (
  SELECT replace(latency.name, '_latency', '') AS model,
         latency.value AS latency_s, bandwidth.value AS bandwidth
  FROM told AS latency
  JOIN told AS bandwidth
    ON bandwidth.name = replace(latency.name, '_latency', '_bandwidth')
  WHERE ends_with(latency.name, '_latency')
)
SELECT model, bytes, latency_s + bytes / bandwidth AS time_s
FROM models CROSS JOIN (SELECT unnest([$sizes]) AS bytes)
WHERE latency_s + bytes / bandwidth > 0
ORDER BY model, bytes"""

_ABOUT: Final = About(
    definition="Latency of all rounds, and bytes at the bandwidth of the links. In the"
    " network, switches add up what GPUs send once.",
    source="Hockney 1994; Patarasuk and Yuan 2009; Sanders, Speck and Traeff 2009;"
    " Graham et al. 2016",
    blind_spots="On paper all of it is pipelined without a gap, and nothing else uses"
    " the links. Which algorithm a library takes, the plan does not know.",
)

_TIPS: Final = (("part", "algorithm"), ("of", "size"), ("text", "time"))


def chart(plan: pl.DataFrame, run_id: str) -> list[Chart]:
    """Return times over sizes; nothing where links are not told.

    Args:
        plan: Rows of Plans of the run.
        run_id: The run.
    """
    from reports.charts import fits

    numbers = _numbers(plan)
    if numbers.is_empty():
        return []
    parts = {one: _COLOURS[one] for one in MODELS if one in set(numbers["model"])}
    titles = ("size of the message [B], logarithmic", "time [s], logarithmic")
    return [
        Chart(
            name="plan-sizes",
            title="An all-reduce over all ranks, by its size [s]",
            summary=f"A line for each of {len(parts)} algorithms on paper, over sizes"
            " from 1 kB to 10 GB.",
            spec=fits.lined(_drawn(numbers), titles, parts, _TIPS),
            numbers=numbers,
            sql=_sql.filled(
                _SQL,
                run=_sql.literal(run_id),
                sizes=", ".join(f"{one:.0f}::DOUBLE" for one in _SIZES),
            ),
            about=_ABOUT,
            sample=f"on paper, by the card of run {name(run_id, 30)}",
            legend={one.replace("_", " "): colour for one, colour in parts.items()},
        )
    ]


def _numbers(plan: pl.DataFrame) -> pl.DataFrame:
    """Return time of each algorithm and size, in order of both. [s]"""
    values = dict(plan.select("name", "value").drop_nulls().iter_rows())
    rows = [
        (one, size_bytes, values[f"{one}_latency"] + size_bytes / bandwidth)
        for one in sorted(MODELS)
        if (bandwidth := values.get(f"{one}_bandwidth")) and f"{one}_latency" in values
        for size_bytes in _SIZES
    ]
    schema = {"model": pl.String, "bytes": pl.Float64, "time_s": pl.Float64}
    found = pl.DataFrame(rows, schema=schema, orient="row")
    return found.filter(pl.col("time_s") > 0)


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    same = {one: pl.col("time_s") for one in ("y", "low", "high", "line")}
    ends = {one: pl.col("time_s") for one in ("line_low", "line_high")}
    texts = [duration(one * SECOND_NS) for one in numbers["time_s"]]
    sizes = [size(int(one)) for one in numbers["bytes"]]
    return numbers.select(
        part="model",
        x="bytes",
        **same,
        **ends,
        text=pl.Series(texts, dtype=pl.String),
        of=pl.Series(sizes, dtype=pl.String),
    )
