"""The base of every table: what Parquet, DuckDB and the dictionary read from it."""

import re
from typing import ClassVar

import dataframely as dy
import pyarrow as pa


class Table(dy.Schema):
    """A table of the lake. Its docstring says what one row is."""

    #: Columns that tell two rows apart; parts are sorted by them. May hold nulls.
    key: ClassVar[tuple[str, ...]] = ()
    #: Column whose UTC day is the row's partition; None where rows have no time.
    day_column: ClassVar[str | None] = None

    @classmethod
    def sql_name(cls) -> str:
        """Name of the table in the lake and in SQL, in snake case."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def describe(cls) -> str:
        """What one row is, in one line."""
        return " ".join((cls.__doc__ or "").split())

    @classmethod
    def arrow_schema(cls) -> pa.Schema:
        """Schema that is written to Parquet, with each column's unit and meaning."""
        columns = cls.columns()
        fields = [
            field.remove_metadata().with_metadata(
                {"description": columns[field.name].description or ""}
                | {"unit": unit_of(columns[field.name])}
            )
            for field in pa.schema(cls)
        ]
        return pa.schema(fields, metadata={"description": cls.describe()})


def unit_of(column: dy.Column) -> str:
    """Return the unit of a column, empty where it has none."""
    return str((column.metadata or {}).get("unit", ""))


def comment_of(column: dy.Column) -> str:
    """Return what a column means, its unit in brackets at the end."""
    unit = unit_of(column)
    return f"{column.description} [{unit}]" if unit else f"{column.description}"
