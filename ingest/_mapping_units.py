"""Units that a mapping may name, and what one of each is in the unit of a column.

A factor is a fraction, so that nothing is lost before the last step. kB, MB and GB are
powers of 1000; KiB, MiB and GiB powers of 1024.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

Factors = Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Scale:
    """How a number becomes one of another unit.

    Attributes:
        factor: What one is.
        offset: What is added to a number before: the zero of a temperature.
    """

    factor: Fraction
    offset: Fraction = Fraction(0)


#: Lengths of time. [ns]
DURATIONS: Final[Factors] = {
    "ns": Fraction(1),
    "us": Fraction(1_000),
    "ms": Fraction(10**6),
    "s": Fraction(10**9),
    "min": Fraction(60 * 10**9),
    "h": Fraction(3_600 * 10**9),
    "d": Fraction(86_400 * 10**9),
}

#: Times since the Unix epoch. [ns]
EPOCHS: Final[Factors] = {
    f"epoch_{unit}": DURATIONS[unit] for unit in ("s", "ms", "us", "ns")
}

_BYTES: Final[Factors] = {
    "B": Fraction(1),
    **{f"{p}B": Fraction(1000 ** (i + 1)) for i, p in enumerate("kMGTP")},
    "KB": Fraction(1000),
    **{f"{p}iB": Fraction(1024 ** (i + 1)) for i, p in enumerate("KMGTP")},
}
_BITS: Final[Factors] = {
    f"{p}bit": Fraction(1000**i, 8) for i, p in enumerate(("", "k", "M", "G", "T"))
}
_WATTS: Final[Factors] = {
    "mW": Fraction(1, 1000),
    "W": Fraction(1),
    "kW": Fraction(1000),
    "MW": Fraction(10**6),
}
_MILLIJOULES: Final[Factors] = {
    "uJ": Fraction(1, 1000),
    "mJ": Fraction(1),
    "J": Fraction(1000),
    "kJ": Fraction(10**6),
    "MJ": Fraction(10**9),
    "mWh": Fraction(3_600),
    "Wh": Fraction(3_600_000),
    "kWh": Fraction(3_600_000_000),
}
_HERTZ: Final[Factors] = {
    "Hz": Fraction(1),
    "kHz": Fraction(1000),
    "MHz": Fraction(10**6),
    "GHz": Fraction(10**9),
}
_RATIOS: Final[Factors] = {"ratio": Fraction(1), "percent": Fraction(1, 100)}
_CELSIUS: Final[Mapping[str, Scale]] = {
    "C": Scale(Fraction(1)),
    "K": Scale(Fraction(1), Fraction(-27_315, 100)),
    "F": Scale(Fraction(5, 9), Fraction(-32)),
}


def _scaled(factors: Factors, by: Fraction, suffix: str = "") -> dict[str, Scale]:
    return {f"{name}{suffix}": Scale(factor / by) for name, factor in factors.items()}


#: Units of a source, by the unit of the column that they go into.
UNITS: Final[Mapping[str, Mapping[str, Scale]]] = {
    "ns": _scaled(DURATIONS, Fraction(1)),
    "B": _scaled({**_BYTES, **_BITS}, Fraction(1)),
    "W": _scaled(_WATTS, Fraction(1)),
    "mJ": _scaled(_MILLIJOULES, Fraction(1)),
    "MHz": _scaled(_HERTZ, Fraction(10**6)),
    "GB/s": _scaled({**_BYTES, **_BITS}, Fraction(10**9), "/s"),
    "degC": _CELSIUS,
    "1": _scaled(_RATIOS, Fraction(1)),
}
