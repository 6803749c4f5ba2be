"""Values of a dump, which come as numbers or as texts, and may be anything."""

from decimal import Decimal, InvalidOperation
from reprlib import Repr
from typing import Final

from ingest.sources._source import RAW_CHARACTERS

#: Greatest number that a column of the lake holds.
GREATEST: Final = (1 << 63) - 1

#: Digits of a number that is read: all of 64 bits, and a sign.
_DIGITS: Final = 20

#: Nanoseconds in a millisecond. [ns]
_MILLISECOND_NS: Final = 1_000_000

_SHOWN: Final = Repr()
_SHOWN.maxlevel, _SHOWN.maxdict, _SHOWN.maxlist, _SHOWN.maxstring = 3, 30, 4, 200


def integer_of(value: object) -> int | None:
    """Return a whole number that fits into 64 bits; None for anything else."""
    if isinstance(value, str):
        value = _parsed(value.strip())
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if abs(value) <= GREATEST else None


def _parsed(text: str) -> int | None:
    is_number = text.isascii() and text.removeprefix("-").isdigit()
    return int(text) if is_number and len(text) <= _DIGITS else None


def time_of(value: object) -> int | None:
    """Return an instant; None where it is unknown, which JSON writes as 0. [ns]"""
    time_ns = integer_of(value)
    return time_ns if time_ns and time_ns > 0 else None


def milliseconds_of(value: object) -> int | None:
    """Return milliseconds as whole nanoseconds, by their decimal digits. [ns]"""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        exact = Decimal(str(value)[:40]) * _MILLISECOND_NS
        whole = int(exact.to_integral_value())
    except (InvalidOperation, OverflowError, ValueError):
        return None
    return whole if 0 <= whole <= GREATEST else None


def text_of(value: object) -> str | None:
    """Return a text that is not empty, and that UTF-8 can hold."""
    if not isinstance(value, str) or not value:
        return None
    return value.encode("utf-8", errors="replace").decode("utf-8")


def shown(value: object) -> str:
    """Return a record as it is shown in a refusal: short, however deep it is."""
    text = _SHOWN.repr(value)[:RAW_CHARACTERS]
    return text.encode("utf-8", errors="replace").decode("utf-8")
