"""How the values of a metric are written, and what becomes of them."""

from dataclasses import dataclass
from typing import Final, Literal

from ingest.tables import Table

#: Where the blanks of a 32-bit field begin (dcgm_structs.h, DCGM_INT32_BLANK). Those of
#: floats and of 64-bit fields lie above, and no gauge reaches it.
INT32_BLANK: Final = 0x7FFFFFF0

#: Where the blanks of a 64-bit counter begin (dcgm_structs.h, DCGM_INT64_BLANK).
INT64_BLANK: Final = 0x7FFFFFFFFFFFFFF0

#: Where a counter of time cannot have come; 73 years. Its blanks lie above. [ns]
LONGEST_NS: Final = 2**61

#: Where a counter of energy cannot have come; its mJ would not fit an Int64. [J]
MOST_JOULES: Final = INT64_BLANK // 1_000

#: Where a counter of seconds cannot have come; 73 years, as of nanoseconds. [s]
LONGEST_S: Final = LONGEST_NS // 1_000_000_000

#: quantity: any number. integer: a whole number that is not negative. seconds: a number
#: to the microsecond, stored as nanoseconds. percent: a hundred is one.
#: percent_or_ratio: percent where it is an integer and a ratio where it is not: DCGM
#: 4.6 and 4.7 give one name to both, and the exporter prints floats with decimals.
Kind = Literal["quantity", "integer", "seconds", "percent", "percent_or_ratio"]


@dataclass(frozen=True, slots=True)
class Field:
    """What fills a column.

    Attributes:
        name: What it is called where it is listed first; no two have the same.
        table: The column's table.
        column: The column.
        order: Of the fields of a column those of the lowest order are added up.
        kind: How its values are written.
        blank: Values from here on are blanks: tested by >=, since there are several of
            them and a float64 on the way makes yet another of each.
        multiplier: What an integer is multiplied by.
        divisor: What a quantity is divided by.
        is_part: Whether it is a part of what the column means: without the other parts
            it says nothing.
    """

    name: str
    table: type[Table]
    column: str
    order: int = 0
    kind: Kind = "quantity"
    blank: int = INT32_BLANK
    multiplier: int = 1
    divisor: float = 1
    is_part: bool = False
