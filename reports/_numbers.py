"""Numbers as a person reads them: few digits, thin spaces, fitting units, UTC."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

#: Stands between groups of digits, and between a number and its unit.
THIN: Final = "\N{NARROW NO-BREAK SPACE}"

_STEPS: Final = ((Decimal(10) ** 9, "G"), (Decimal(10) ** 6, "M"), (Decimal(1000), "k"))

_DURATIONS: Final = (
    (86_400_000_000_000, "d"),
    (3_600_000_000_000, "h"),
    (60_000_000_000, "min"),
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "\N{MICRO SIGN}s"),
    (1, "ns"),
)

#: Numbers below are read at a glance without a letter.
_COMPACT_FROM: Final = Decimal("9999.5")

#: Percentages from which three digits would round to all, and below which to nothing.
_ALMOST_ALL: Final = Decimal("99.95")
_ALL: Final = Decimal(100)
_ALMOST_NOTHING: Final = Decimal("0.01")

#: 81.3 % says as much as 6.2 %.
_THREE_DIGITS_FROM: Final = 10

#: A minute of clock time is too coarse for a span below two.
_SECONDS_BELOW_NS: Final = 120 * 10**9

#: A unit is used from this many of it on: 90 s stay seconds, 120 s are minutes.
_FROM: Final = {"d": 2, "h": 2, "min": 2}


def grouped(value: int | Decimal) -> str:
    """Return a number with all its digits, in groups of three."""
    return (
        f"{value:,f}".replace(",", THIN)
        if isinstance(value, Decimal)
        else (f"{value:,}".replace(",", THIN))
    )


def significant(value: float | Decimal, digits: int = 3) -> str:
    """Return a number rounded to some significant digits, never with an exponent."""
    exact = Decimal(repr(value)) if isinstance(value, float) else value
    if not exact:
        return "0"
    places = digits - 1 - exact.adjusted()
    rounded = round(exact, places)
    places = max(0, digits - 1 - rounded.adjusted())
    return grouped(Decimal(f"{rounded:.{places}f}"))


def compact(value: float | Decimal, digits: int = 3) -> str:
    """Return a number with k, M or G from 10 000 on."""
    exact = Decimal(repr(value)) if isinstance(value, float) else value
    if abs(exact) < _COMPACT_FROM:
        return significant(exact, digits)
    exact = Decimal(f"{exact:.{digits - 1}e}")
    size, letter = next(step for step in _STEPS if abs(exact) >= step[0])
    return f"{significant(exact / size, digits)}{THIN}{letter}"


def percent(ratio: float | Decimal) -> str:
    """Return a share of one as a percentage that never rounds to all or nothing."""
    share = 100 * Decimal(repr(ratio) if isinstance(ratio, float) else ratio)
    if _ALMOST_ALL <= share < _ALL:
        return f">{THIN}99.9{THIN}%"
    if 0 < share < _ALMOST_NOTHING:
        return f"<{THIN}{_ALMOST_NOTHING}{THIN}%"
    return f"{significant(share, 3 if abs(share) >= _THREE_DIGITS_FROM else 2)}{THIN}%"


def part_in_words(rounded: Decimal, exact: Decimal, unit: Decimal) -> str:
    """Return a share that was rounded together with others, never as all or nothing.

    Args:
        rounded: The share, a multiple of the unit. [1]
        exact: The share before rounding. [1]
        unit: What shares were rounded to. [1]
    """
    if not rounded and exact:
        return f"<{THIN}{(100 * unit).normalize():f}{THIN}%"
    if rounded == 1 and exact < 1:
        return f">{THIN}{100 * (1 - unit):.1f}{THIN}%"
    whole = rounded in {0, 1}
    return f"{100 * rounded:.{0 if whole else 1}f}{THIN}%"


def brief(value: Decimal) -> str:
    """Return a number that is already rounded, with k, M or G but no digit less.

    Args:
        value: A number with the digits that it is known to.
    """
    if abs(value) < _COMPACT_FROM:
        return grouped(value)
    size, letter = next(step for step in _STEPS if abs(value) >= step[0])
    return f"{grouped((value / size).normalize())}{THIN}{letter}"


def duration(ns: float) -> str:
    """Return a length of time in the unit that a person would say."""
    size, unit = next(
        (step for step in _DURATIONS if abs(ns) >= step[0] * _FROM.get(step[1], 1)),
        _DURATIONS[-1],
    )
    return f"{significant(ns / size)}{THIN}{unit}"


def utc(ns: int) -> str:
    """Return an instant to the minute, in UTC."""
    return f"{_instant(ns):%Y-%m-%d %H:%M} UTC"


def period(from_ns: int, to_ns: int) -> str:
    """Return a span of time, in UTC; the day is said once where it is one."""
    start, end = _instant(from_ns), _instant(to_ns)
    if to_ns - from_ns < _SECONDS_BELOW_NS:
        return f"{start:%Y-%m-%d %H:%M:%S} to {end:%H:%M:%S} UTC"
    if start.date() == end.date():
        return f"{start:%Y-%m-%d %H:%M} to {end:%H:%M} UTC"
    return f"{start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC"


def _instant(ns: int) -> datetime:
    return datetime.fromtimestamp(ns // 10**9, UTC)


def size(value: int) -> str:
    """Return an amount of data, in powers of ten."""
    amount = compact(Decimal(value))
    return f"{amount}B" if amount[-1].isalpha() else f"{amount}{THIN}B"


def apportion(amounts: Sequence[Decimal], unit: Decimal) -> list[Decimal]:
    """Round amounts to multiples of a unit that still add up to the rounded total.

    The largest-remainder method: every amount is cut, and the units that are then
    missing go to those that lost most.

    Args:
        amounts: Amounts, none negative.
        unit: What each is to be a multiple of.
    """
    cut = [amount // unit for amount in amounts]
    missing = int(round(sum(amounts, Decimal()) / unit) - sum(cut))
    by_loss = sorted(range(len(amounts)), key=lambda i: (cut[i] * unit - amounts[i], i))
    for i in by_loss[:missing]:
        cut[i] += 1
    return [count * unit for count in cut]


def rounding_unit(total: Decimal, digits: int = 4) -> Decimal:
    """Return the power of ten that leaves a total with some significant digits."""
    return Decimal(1).scaleb(total.adjusted() - digits + 1) if total else Decimal(1)
