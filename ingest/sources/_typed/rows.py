"""Cells of known columns as rows of their types, those that do not fit refused."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from ingest.sources._lines import refuse_all
from ingest.sources._places import PLACE, PLACE_NUMBERS, with_place
from ingest.sources._source import Batch, Reading, Refusal
from ingest.sources._typed.shape import Shape

_RUN: Final = "run_id"
_CLUSTER: Final = "cluster"


def batch(
    cells: pl.DataFrame,
    shape: Shape,
    reading: Reading,
    refused: Sequence[Refusal] = (),
    repairs: int = 0,
) -> Batch:
    """Make a batch of cells, refusing rows that have a `rule` or get one.

    Args:
        cells: Columns of the shape, as text or of their type, with their `place` or
            number; `line` and `rule` where there is something to say.
        shape: What the table is like.
        reading: What is known of the file.
        refused: Records that did not come as far as cells.
        repairs: Repairs that reading needed. [1]
    """
    rows, broken = _clean(cells, shape), None
    if rows is None:
        known = _typed(_told(cells, shape), shape)
        broken = known.filter(pl.col("rule").is_not_null())
        rows = known.filter(pl.col("rule").is_null())
    lost = () if broken is None else refuse_all(shape.table, broken)
    return Batch(
        rows={} if rows.is_empty() else {shape.table: _complete(rows, shape, reading)},
        refused=(*refused, *lost),
        records=cells.height + len(refused),
        repairs=repairs,
    )


def _clean(cells: pl.DataFrame, shape: Shape) -> pl.DataFrame | None:
    """Return cells in their types, where each of them has its type; none otherwise."""
    if "rule" in cells.columns and cells["rule"].null_count() < cells.height:
        return None
    schema = cells.schema
    numbers = [n for n in _numbers(cells, shape) if schema[n] != shape.types[n]]
    if not numbers:
        return cells
    typed = cells.with_columns(
        pl.col(name).cast(shape.types[name], strict=False) for name in numbers
    )
    before, after = cells.select(numbers), typed.select(numbers)
    return typed if before.null_count().equals(after.null_count()) else None


def _numbers(cells: pl.DataFrame, shape: Shape) -> list[str]:
    types = shape.types
    return [n for n in cells.columns if n in types and types[n] != pl.String]


def _told(cells: pl.DataFrame, shape: Shape) -> pl.DataFrame:
    """Return cells with their place, their rule, and what was found, as text."""
    values = [name for name in cells.columns if name in shape.types]
    said = {
        "line": pl.struct(values).struct.json_encode(),
        "rule": pl.lit(None, pl.String),
    }
    added = {n: expr for n, expr in said.items() if n not in cells.columns}
    return with_place(cells.with_columns(**added))


def _typed(cells: pl.DataFrame, shape: Shape) -> pl.DataFrame:
    values = {
        name: pl.col(name).cast(shape.types[name], strict=False)
        for name in _numbers(cells, shape)
    }
    lost = [
        pl.when(pl.col(name).is_not_null() & value.is_null()).then(
            pl.lit(f"{name}|{_kind(shape.types[name])}")
        )
        for name, value in values.items()
    ]
    return cells.with_columns(rule=pl.coalesce("rule", *lost), **values)


def _kind(dtype: pl.DataType) -> str:
    return "integer" if dtype.is_integer() else "number"


def _complete(rows: pl.DataFrame, shape: Shape, reading: Reading) -> pl.DataFrame:
    """Add the run or the cluster, and what the file left out.

    The run of a run card wins over the data, the data over the other ways to name one;
    the cluster of the data wins over any other.
    """
    types = shape.types
    defaults = [
        (pl.col(name) if name in rows.columns else pl.lit(None, types[name]))
        .fill_null(value)
        .alias(name)
        for name, value in shape.defaults.items()
    ]
    places = {PLACE, *PLACE_NUMBERS}
    kept = [name for name in rows.columns if name in types or name in places]
    owners = (*_run(rows, shape, reading), *_cluster(rows, shape, reading))
    return rows.select(kept).with_columns(*owners, *defaults)


def _cluster(rows: pl.DataFrame, shape: Shape, reading: Reading) -> list[pl.Expr]:
    if _CLUSTER not in shape.types:
        return []
    if _CLUSTER not in rows.columns:
        return [pl.lit(reading.cluster).alias(_CLUSTER)]
    return [_or(_CLUSTER, reading.cluster)]


def _run(rows: pl.DataFrame, shape: Shape, reading: Reading) -> list[pl.Expr]:
    if _RUN not in shape.types:
        return []
    if _RUN not in rows.columns or reading.run_id_basis == "run_card":
        return [pl.lit(reading.run_id).alias(_RUN)]
    named = rows[_RUN]
    if not named.null_count() and (named != "").all():
        return []
    return [_or(_RUN, reading.run_id)]


def _or(name: str, otherwise: str) -> pl.Expr:
    """Return a name, or another one where it is empty."""
    return pl.when(pl.col(name) != "").then(name).fill_null(otherwise).alias(name)
