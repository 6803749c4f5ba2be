"""One column of a mapping: the fields that it needs, and the values that it gets."""

import re
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

import dataframely as dy
import polars as pl

from ingest._mapping_card import Scalar, Value
from ingest._mapping_instants import Kind, instant_kind
from ingest._mapping_kinds import is_instant, kind_of
from ingest._mapping_numbers import as_int64, integer
from ingest._mapping_scalars import fault_of
from ingest._mapping_times import Instants
from ingest._mapping_units import DURATIONS
from ingest.errors import SettingError
from ingest.tables import unit_of
from ingest.times import parse_zone

#: What names of fields start with in a frame, so that they meet no column of ours.
FIELD: Final = "f:"

#: What a field of the record that ends another is called by.
UNTIL: Final = "until."

_IN_TEXT: Final = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Ready:
    """A column, ready to be computed from a frame of fields.

    Attributes:
        value: Its values, of its type.
        is_bad: Whether there is a text, and no value in it.
        naive: Whether a stamp told no offset.
    """

    value: pl.Expr
    is_bad: pl.Expr
    naive: pl.Expr


@dataclass(frozen=True, slots=True)
class Target:
    """A column and where its values come from.

    Attributes:
        column: The column.
        fields: Fields that it needs.
        texts: Its text in the source; two where it is the time between them.
        kind: How a text becomes a value.
        default: Value where there is no text.
        zone: Zone of stamps, where the mapping says one.
    """

    column: dy.Column
    fields: tuple[str, ...]
    texts: tuple[pl.Expr, ...]
    kind: Kind
    default: Scalar | None
    zone: tzinfo | None

    @property
    def name(self) -> str:
        """Name of the column."""
        return str(self.column.name)

    @property
    def rule(self) -> str:
        """Rule that a text breaks in which there is no value."""
        return f"{self.name}|{self.kind.rule}"

    @property
    def is_time(self) -> bool:
        """Whether the column is a point in time."""
        return is_instant(self.column)

    def ready(self, zone: tzinfo) -> Ready:
        """Return its values, stamps being in a zone where the mapping says none."""
        found = [self.kind.convert(text, self.zone or zone) for text in self.texts]
        value = found[0].value
        if len(found) == 2:  # noqa: PLR2004 - from and to
            span = found[1].value.cast(pl.Int128) - found[0].value.cast(pl.Int128)
            value = as_int64(span)
        there = pl.all_horizontal(text.is_not_null() for text in self.texts)
        default = pl.lit(self.default, self.column.dtype)
        naive = pl.any_horizontal(there & one.naive for one in found)
        return Ready(
            value=pl.when(there).then(value).otherwise(default),
            is_bad=there & value.is_null(),
            naive=naive,
        )


def target_of(column: dy.Column, value: Value, zone: str | None) -> Target:
    """Return how a column is filled.

    Args:
        column: The column.
        value: What the mapping says of it.
        zone: Zone of the whole mapping.

    Raises:
        SettingError: If it cannot be filled so.
    """
    _check_sources(value)
    between = value.begin is not None
    kind = _span_kind(column, value) if between else kind_of(column, value)
    if value.default is not None and (fault := fault_of(column, value.default)):
        message = f"default: {fault}"
        raise SettingError(message)
    named = value.zone or zone
    fields, texts = _texts(value)
    zoned = parse_zone(named) if named else None
    return Target(column, fields, texts, kind, value.default, zoned)


def field(name: str) -> pl.Expr:
    """Return the content of a field."""
    return pl.col(f"{FIELD}{name}")


def _check_sources(value: Value) -> None:
    ways = (value.field, value.first, value.text, value.begin or value.end)
    if sum(way is not None for way in ways) != 1:
        message = "expected one of field, first, text, and from with to"
        raise SettingError(message)
    if (value.begin is None) != (value.end is None):
        message = "from and to: each needs the other"
        raise SettingError(message)
    if value.name and value.first is None:
        message = "name: only with first"
        raise SettingError(message)


def _texts(value: Value) -> tuple[tuple[str, ...], tuple[pl.Expr, ...]]:
    """Return the fields that a value needs, and the texts that they make."""
    if value.field is not None:
        return (value.field,), (field(value.field),)
    if value.begin is not None and value.end is not None:
        return (value.begin, value.end), (field(value.begin), field(value.end))
    if value.first is not None:
        each = [
            pl.when(field(name).is_not_null()).then(pl.lit(name))
            if value.name
            else field(name)
            for name in value.first
        ]
        return value.first, (pl.coalesce(each),)
    return _template(value.text or "")


def _template(text: str) -> tuple[tuple[str, ...], tuple[pl.Expr, ...]]:
    parts = _IN_TEXT.split(text)
    fixed, names = parts[::2], parts[1::2]
    if not names or any("{" in part or "}" in part for part in fixed):
        message = "text: expected fields in braces, as in 'node-{Node}'"
        raise SettingError(message)
    pieces = [
        field(part) if is_name else pl.lit(part)
        for is_name, part in zip((False, True) * len(parts), parts, strict=False)
    ]
    return tuple(names), (pl.concat_str(pieces),)


def _span_kind(column: dy.Column, value: Value) -> Kind:
    if unit_of(column) != "ns" or is_instant(column):
        message = "from and to: only for a length of time"
        raise SettingError(message)
    unit = value.unit or ""
    if unit in DURATIONS and value.since is None and value.format is None:
        factor = DURATIONS[unit]
        return Kind(
            "number",
            f"two decimal numbers in {unit}, without separators or a unit",
            lambda text, _: Instants(integer(text, factor), pl.lit(value=False)),
        )
    return instant_kind(value)
