"""Files of power read by their readers, and measured as a lake would be."""

import io
from collections.abc import Iterable
from typing import Any, Final

import polars as pl

from analysis._analysis import Frames
from analysis.allocations import Allocations
from analysis.clock_offsets import ClockOffsets
from analysis.energy import ANALYSIS, Energy
from analysis.gpus import Gpus
from ingest.sources import Batch, Source
from ingest.tables import PowerSamples, Table
from ingest.times import SECOND_NS
from tests.ingest.readings import reading

Row = dict[str, Any]

#: 2024-02-15 08:36:00 UTC. [s]
START_S: Final = 1_707_986_160


def read(source: Source, text: str, **told: Any) -> list[Batch]:
    """Read a text by a source."""
    return list(source.read(io.BytesIO(text.encode()), reading(**told)))


def table_of(batches: Iterable[Batch], table: type[Table]) -> pl.DataFrame:
    """Return the rows of a table as the lake would hold them."""
    schema = table.create_empty().schema
    frames = [
        batch.rows[table].drop("place") for batch in batches if table in batch.rows
    ]
    whole = pl.concat([table.create_empty(), *frames], how="diagonal_relaxed")
    return whole.select(schema.names()).cast(schema)


def rows_of(table: type[Table], rows: list[Row]) -> pl.LazyFrame:
    """Return a table of rows; a column that a row leaves out is null."""
    schema = table.create_empty().schema
    columns = {name: [row.get(name) for row in rows] for name in schema}
    return pl.DataFrame(columns, schema=schema, strict=False).lazy()


def measure(
    samples: pl.DataFrame,
    holds: list[Row] | None = None,
    clocks: list[Row] | None = None,
) -> list[Row]:
    """Return the rows of Energy."""
    frames = {
        PowerSamples: samples.lazy(),
        Allocations: rows_of(Allocations, holds or []),
        Gpus: rows_of(Gpus, holds or []),
        ClockOffsets: rows_of(ClockOffsets, clocks or []),
    }
    found = ANALYSIS.compute(Frames(frames), ANALYSIS.thresholds)[Energy]
    return Energy.validate(found).to_dicts()


def hold(gpu_uuid: str, start_ns: int, end_ns: int, **other: Any) -> Row:
    """A GPU that run `r` held."""
    return {
        "run_id": "r",
        "attempt": 0,
        "cluster": "pod",
        "rank": 0,
        "slot": 0,
        "gpu_uuid": gpu_uuid,
        "from_ns": start_ns,
        "to_ns": end_ns,
        "role": "rank",
        **other,
    }


def scrapes(
    lines: Iterable[tuple[str, str]], seconds: Iterable[float], host: str = "n1"
) -> str:
    """The same scrape of dcgm-exporter at several times.

    Args:
        lines: Series without a node, and its value; `{n}` in it counts scrapes.
        seconds: Times of the scrapes after START_S.
        host: Node.
    """
    text = []
    for n, second in enumerate(seconds):
        stamp = round((START_S + second) * 1000)
        for series, value in lines:
            named = series.replace("}", f',Hostname="{host}"}}')
            text.append(f"{named} {value.replace('{n}', str(n))} {stamp}")
    return "\n".join(text) + "\n"


def at(second: float) -> int:
    """A time after START_S. [ns]"""
    return round((START_S + second) * SECOND_NS)
