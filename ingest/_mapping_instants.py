"""How the text of a field becomes a point in time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, tzinfo

import polars as pl

from ingest import _mapping_times as times
from ingest._mapping_card import Value
from ingest._mapping_numbers import as_int64, integer
from ingest._mapping_times import ISO, Instants
from ingest._mapping_units import DURATIONS, EPOCHS
from ingest.errors import SettingError


@dataclass(frozen=True, slots=True)
class Kind:
    """How texts become values.

    Attributes:
        rule: What a text breaks that is none, after the name of the column.
        expected: What a text must be, in words.
        convert: Makes values of the column's type, null where the text is none.
        uses_zone: Whether stamps may need a zone.
    """

    rule: str
    expected: str
    convert: Callable[[pl.Expr, tzinfo], Instants]
    uses_zone: bool = False


def refuse_keys(value: Value, what: str, keys: Iterable[str]) -> None:
    for key in keys:
        if getattr(value, key) is not None:
            message = f"{key}: {what} takes none; leave it out"
            raise SettingError(message)


def instant_kind(value: Value) -> Kind:
    """Return how a field becomes instants.

    Raises:
        SettingError: If neither a unit nor a format says how.
    """
    given = [key for key in ("unit", "format") if getattr(value, key) is not None]
    if len(given) != 1:
        message = (
            f"a time needs one of: unit = {_or(EPOCHS)}; unit = {_or(DURATIONS)} and"
            f" since = an instant; format = {ISO!r} or as in '%Y-%m-%d %H:%M:%S'"
        )
        raise SettingError(message)
    return _stamped(value) if value.format else _counted(value)


def _stamped(value: Value) -> Kind:
    form, repeated = value.format or ISO, value.repeated or "earliest"
    refuse_keys(value, "a format", ("since",))
    if form == ISO:
        return Kind(
            "stamp",
            "an ISO 8601 stamp that its zone has, of the years 1678 to 2261",
            lambda text, zone: times.of_iso(text, zone, repeated),
            uses_zone=True,
        )
    if fault := times.fault_of(form):
        message = f"format: {form!r} cannot be used: {fault}"
        raise SettingError(message)
    return Kind(
        "stamp",
        f"a stamp like {form} that its zone has, of the years 1678 to 2261",
        lambda text, zone: times.of_format(text, form, zone, repeated),
        uses_zone=True,
    )


def _counted(value: Value) -> Kind:
    unit = value.unit or ""
    factors = DURATIONS if value.since else EPOCHS
    refuse_keys(value, "a number", ("repeated",))
    if unit not in factors:
        with_since = " with since" if value.since else " without since"
        message = f"unit: expected {_or(factors)}{with_since}, found {unit!r}"
        raise SettingError(message)
    factor, since = factors[unit], value.since

    if since and times.instant(since, UTC) is None:
        message = f"since: expected an ISO 8601 stamp, found {since!r}"
        raise SettingError(message)

    def convert(text: pl.Expr, zone: tzinfo) -> Instants:
        base = times.instant(since, zone) if since else 0
        naive = pl.lit(bool(since) and times.is_naive(since or ""))
        return Instants(as_int64(integer(text, factor) + base), naive)

    expected = f"a decimal number in {unit}, without separators or a unit"
    return Kind("number", expected, convert, uses_zone=bool(since))


def _or(words: Iterable[str]) -> str:
    return ", ".join(words)
