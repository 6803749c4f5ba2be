"""Cells of known columns as rows of their types, those that do not fit refused."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from ingest.sources._lines import refuse_all
from ingest.sources._source import Batch, Reading, Refusal
from ingest.sources._typed.shape import Shape

_RUN: Final = "run_id"


def batch(
    cells: pl.DataFrame,
    shape: Shape,
    reading: Reading,
    refused: Sequence[Refusal] = (),
    repairs: int = 0,
) -> Batch:
    """Make a batch of cells, refusing rows that have a `rule` or get one.

    Args:
        cells: Columns of the shape, as text or integers, with `place`, `line` and
            `rule`.
        shape: What the table is like.
        reading: What is known of the file.
        refused: Records that did not come as far as cells.
        repairs: Repairs that reading needed. [1]
    """
    known = _typed(cells, shape)
    broken = known.filter(pl.col("rule").is_not_null())
    rows = _complete(known.filter(pl.col("rule").is_null()), shape, reading)
    return Batch(
        rows={} if rows.is_empty() else {shape.table: rows},
        refused=(*refused, *refuse_all(shape.table, broken)),
        records=cells.height + len(refused),
        repairs=repairs,
    )


def _typed(cells: pl.DataFrame, shape: Shape) -> pl.DataFrame:
    types = shape.types
    numbers = [n for n in cells.columns if n in types and types[n].is_integer()]
    values = {name: pl.col(name).cast(types[name], strict=False) for name in numbers}
    lost = [
        pl.when(pl.col(name).is_not_null() & value.is_null()).then(
            pl.lit(f"{name}|integer")
        )
        for name, value in values.items()
    ]
    return cells.with_columns(rule=pl.coalesce("rule", *lost), **values)


def _complete(rows: pl.DataFrame, shape: Shape, reading: Reading) -> pl.DataFrame:
    """Add the run, and what the file left out.

    The run of a run card wins over the data, the data over the other ways to name one.
    """
    types = shape.types
    named = _RUN in rows.columns and reading.run_id_basis != "run_card"
    given = pl.when(pl.col(_RUN) != "").then(_RUN) if named else pl.lit(None, pl.String)
    defaults = [
        (pl.col(name) if name in rows.columns else pl.lit(None, types[name]))
        .fill_null(value)
        .alias(name)
        for name, value in shape.defaults.items()
    ]
    kept = [name for name in rows.columns if name in types]
    return rows.select(*kept, "place").with_columns(
        given.fill_null(reading.run_id).alias(_RUN), *defaults
    )
