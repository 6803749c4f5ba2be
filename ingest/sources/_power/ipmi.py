"""Readings of `ipmitool dcmi power reading`, line by line, of one node or of many."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

#: A line, perhaps behind the name of its node as pdsh and clush put it.
_LINE: Final = re.compile(
    r"(?:([A-Za-z0-9][\w.-]*): +)?(Instantaneous power reading|"
    r"Average power reading over sample period|IPMI timestamp|Sampling period|"
    r"Power reading state is): *(.*?)(?:\s{1,80}Sampling period: *(.*))?"
)

#: Key of the line that a reading starts with, and of the one that ends it.
FIRST: Final = "Instantaneous power reading"
LAST: Final = "Power reading state is"

AVERAGE: Final = "Average power reading over sample period"
STAMP: Final = "IPMI timestamp"
PERIOD: Final = "Sampling period"

#: Nodes whose readings may be open at once, more than any list of pdsh. [1]
MOST_NODES: Final = 65_536


@dataclass(slots=True)
class Power:
    """A reading of a node.

    Attributes:
        line: Number of its first line.
        node: Node, where its lines name it.
        values: What its lines say, by key.
    """

    line: int
    node: str | None
    values: dict[str, str] = field(default_factory=dict)


class Readings:
    """Gathers lines into readings; those of several nodes may be interleaved."""

    def __init__(self) -> None:
        """Start with none."""
        self._open: dict[str | None, Power] = {}

    def add(self, number: int, line: str) -> Iterator[Power]:
        """Add a line; yield the reading that it ends."""
        match = _LINE.fullmatch(line)
        if not match:
            return
        node, key, value, period = match.groups()
        if key == FIRST:
            if node in self._open:
                yield self._open.pop(node)
            if len(self._open) >= MOST_NODES:
                yield self._open.pop(next(iter(self._open)))
            self._open[node] = Power(number, node)
        reading = self._open.get(node)
        if reading is None:
            return
        reading.values.setdefault(key, value)
        if period:
            reading.values.setdefault(PERIOD, period)
        if key == LAST:
            yield self._open.pop(node)

    def rest(self) -> Iterator[Power]:
        """Yield the readings that no last line ended."""
        yield from self._open.values()
        self._open = {}
