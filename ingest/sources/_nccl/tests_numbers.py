"""Numbers as nccl-tests print them, and bandwidths beside the time they are of."""

from decimal import Decimal, InvalidOperation
from typing import Final

#: Kind of a test that does not tell what it measures.
UNKNOWN: Final = "unknown"

#: Greatest number that a column of the lake holds.
GREATEST: Final = (1 << 63) - 1

#: Characters of a number that is printed: a longer text is none. [1]
_MOST_CHARACTERS: Final = 40

#: Room for the rounding of the test's own arithmetic, over that of what it prints. [1]
_SLACK: Final = Decimal("1.02")


def agree(printed: Decimal, exact: Decimal, time: Decimal) -> bool:
    """Return whether a printed bandwidth is one, rounded, of a rounded time."""
    from_time = exact * _half(time) / time
    return abs(printed - exact) <= (_half(printed) + from_time) * _SLACK


def _half(printed: Decimal) -> Decimal:
    """Return half of the last place of a number."""
    exponent = printed.as_tuple().exponent
    return Decimal(5).scaleb(int(exponent) - 1)


def guess(algbw: Decimal | None, busbw: Decimal | None) -> str:
    """Return a kind by the ratio of bandwidths: only of an all-reduce is it over 1."""
    if not algbw or not busbw:
        return UNKNOWN
    return "allreduce" if busbw > algbw * _SLACK + _half(algbw) * 2 else UNKNOWN


def integer_of(text: str) -> int | None:
    """Return a whole number of 64 bits; None of any other text."""
    plain = text.strip()
    is_number = plain.isascii() and plain.removeprefix("-").isdigit()
    if not is_number or len(plain) > len(str(GREATEST)):
        return None
    return value if abs(value := int(plain)) <= GREATEST else None


def number_of(text: str) -> Decimal | None:
    """Return a finite number; None of any other text."""
    if len(text) > _MOST_CHARACTERS:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    is_sound = value.is_finite() and abs(value.adjusted()) < _MOST_CHARACTERS
    return value if is_sound else None


def finite(value: Decimal | None) -> float | None:
    """Return a bandwidth as a float; None where there is none."""
    return float(value) if value is not None and value >= 0 else None


def count_of(text: str | None) -> int | None:
    """Return a count, which is printed as a float."""
    value = number_of(text or "")
    if value is None or value != value.to_integral_value():
        return None
    return int(value) if 0 <= value <= GREATEST else None
