"""A map checked against its table: what it needs of a file, and what it makes of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from ingest._mapping_card import Map, Scalar, Value, Where
from ingest._mapping_layout import Layout, as_tuple, condition, layout_of
from ingest._mapping_scalars import fault_of
from ingest._mapping_targets import UNTIL, Target, target_of
from ingest.errors import SettingError
from ingest.tables import TABLES, Table

#: Tables that gpuledger fills by itself.
_OWN: Final = ("run_cards", "ingested_files", "rejected_rows")

#: Columns that are filled for every mapping, and those of them that it may fill.
_FILLED: Final = ("file_id", "occurrence", "run_id", "cluster", "time_quality")
_FREE: Final = ("run_id", "cluster", "time_quality")

#: Values of columns that need one, where a mapping says nothing.
DEFAULTS: Final[Mapping[tuple[str, str], Scalar]] = {
    ("failures", "source"): "other",
    ("failures", "inferred"): False,
    ("failures", "line_count"): 1,
    ("step_timings", "clock"): "host",
    ("step_timings", "scope"): "rank",
    ("step_timings", "step_count"): 1,
    ("jobs", "restart_count"): 0,
    ("kernels", "linked"): False,
    ("collectives", "is_p2p"): False,
}


@dataclass(frozen=True, slots=True)
class Pairing:
    """How records that end others find them."""

    is_end: pl.Expr
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """How records become rows of one table.

    Attributes:
        table: The table.
        targets: Columns that come from fields.
        constants: Columns with the same value in every row.
        patterns: Patterns of file names; none where it takes what nobody recognizes.
        layout: How records lie in a file.
        where: Whether a record becomes a row.
        until: How the records that end them find them.
        fields: Fields that are read.
        needed: Those of them that every file must have.
    """

    table: type[Table]
    targets: tuple[Target, ...]
    constants: Mapping[str, Scalar]
    patterns: tuple[str, ...]
    layout: Layout
    where: pl.Expr
    until: Pairing | None
    fields: tuple[str, ...]
    needed: tuple[str, ...]


def plan_of(written: Map, zone: str | None) -> Plan:
    """Check a map and return what it does.

    Raises:
        SettingError: If it names an unknown table or column, lacks one that the table
            needs, or says something that cannot be done.
    """
    table = _table(written.table)
    targets = tuple(_targets(written, table, written.zone or zone))
    constants = dict(_constants(written, table))
    _refuse_missing(table, {target.name for target in targets} | constants.keys())
    conditions = written.where
    if isinstance(conditions, Where):
        conditions = (conditions,)
    until = written.until
    asked = [one.column for one in conditions]
    if until:
        asked += [until.where.column, *until.by]
    fields = list(dict.fromkeys([f for t in targets for f in t.fields] + asked))
    _check_until(fields, is_paired=until is not None)
    optional = {f for t in targets if t.default is not None for f in t.fields}
    needed = [f for t in targets if t.default is None for f in t.fields] + asked
    return Plan(
        table=table,
        targets=targets,
        constants=constants,
        patterns=as_tuple(written.files),
        layout=layout_of(written),
        where=pl.all_horizontal(pl.lit(value=True), *map(condition, conditions)),
        until=Pairing(condition(until.where), until.by) if until else None,
        fields=_of_records(fields),
        needed=_of_records([f for f in needed if f not in optional or f in asked]),
    )


def _table(name: str) -> type[Table]:
    tables = {t.sql_name(): t for t in TABLES if t.sql_name() not in _OWN}
    if name not in tables:
        message = f"table: no table {name!r} to fill; one of {', '.join(tables)}"
        raise SettingError(message)
    return tables[name]


def _targets(written: Map, table: type[Table], zone: str | None) -> Iterator[Target]:
    for name, value in written.columns.items():
        with_more = Value(field=value) if isinstance(value, str) else value
        _refuse_column(table, name, "columns")
        try:
            yield target_of(table.columns()[name], with_more, zone)
        except SettingError as error:
            message = f"columns.{name}: {error}"
            raise SettingError(message) from error


def _constants(written: Map, table: type[Table]) -> Iterator[tuple[str, Scalar]]:
    for name, value in written.constants.items():
        _refuse_column(table, name, "constants")
        if name in written.columns:
            message = f"constants.{name}: columns fills it already; keep one of the two"
            raise SettingError(message)
        if fault := fault_of(table.columns()[name], value):
            message = f"constants.{name}: {fault}"
            raise SettingError(message)
        yield name, value


def _refuse_column(table: type[Table], name: str, where: str) -> None:
    open_ = [n for n in table.column_names() if n not in _FILLED or n in _FREE]
    if name not in open_:
        message = (
            f"{where}.{name}: {table.sql_name()} has no such column to fill;"
            f" one of {', '.join(open_)}"
        )
        raise SettingError(message)


def _refuse_missing(table: type[Table], given: set[str]) -> None:
    lacks = [
        name
        for name, column in table.columns().items()
        if not (column.nullable or name in given or name in _FILLED)
        and (table.sql_name(), name) not in DEFAULTS
    ]
    if lacks:
        message = (
            f"columns: {table.sql_name()} needs {', '.join(lacks)}; name the field, or"
            " give a value in constants"
        )
        raise SettingError(message)


def _check_until(fields: list[str], *, is_paired: bool) -> None:
    ends = [name for name in fields if name.startswith(UNTIL)]
    if ends and not is_paired:
        message = f"{ends[0]}: there is no `until` in this map; say which record it is"
        raise SettingError(message)


def _of_records(fields: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.removeprefix(UNTIL) for name in fields))
