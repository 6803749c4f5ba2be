"""Arrays of many groups of devices, one below the other."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

#: Values by column, with where they are known if that is not everywhere.
Columned = dict[str, Any]


class Stack(NamedTuple):
    """What is kept of some devices: values that their shape can be spread over.

    Attributes:
        devices: Numbers of devices, as a column where they have several rows each.
        columns: Values by column; NaN where there is none.
    """

    devices: "Array"
    columns: Columned

    def flat(self) -> "dict[str, tuple[Array, Array | None]]":
        """Return each column row by row, and where it is known."""
        shapes = [np.shape(_values(value)) for value in self.columns.values()]
        shape = np.broadcast_shapes(self.devices.shape, *shapes)
        every: Columned = {"device": self.devices} | self.columns
        return {
            name: (
                np.broadcast_to(_values(value), shape).ravel(),
                np.broadcast_to(value[1], shape).ravel()
                if isinstance(value, tuple)
                else None,
            )
            for name, value in every.items()
        }


def _values(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) else value


def stacked(parts: Sequence[Stack]) -> pl.DataFrame:
    """Return the rows of all parts; a column that a part lacks is null there.

    Args:
        parts: What is kept of devices.
    """
    alike = defaultdict(list)
    for part in parts:
        alike[tuple(part.columns)].append(part.flat())
    return pl.concat([_joined(group) for group in alike.values()], how="diagonal")


def _joined(group: "list[dict[str, tuple[Array, Array | None]]]") -> pl.DataFrame:
    columns = {}
    for name in group[0]:
        values = pl.Series(
            name, np.concatenate([part[name][0] for part in group]), nan_to_null=True
        )
        if group[0][name][1] is not None:
            known = np.concatenate([part[name][1] for part in group])
            values = values.set(pl.Series(~known), None)
        columns[name] = values
    return pl.DataFrame(columns)


class ByDevice:
    """Columns of rows that are sorted by device, some rows at a time."""

    def __init__(self, rows: pl.DataFrame, names: Sequence[str]) -> None:
        """Hold columns.

        Args:
            rows: Rows with `device`, in its order.
            names: Columns.
        """
        self._columns = [rows[name].to_numpy() for name in names]
        self._devices = rows["device"].to_numpy()

    def of(self, device: int) -> "list[Array]":
        """Return the columns of a device.

        Args:
            device: Its number.
        """
        first, last = np.searchsorted(self._devices, [device, device + 1])
        return [column[first:last] for column in self._columns]
