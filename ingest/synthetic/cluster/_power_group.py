"""GPUs that are sampled at the same moments: what their driver says of each of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ingest.synthetic.cluster._power_activity import Rows
from ingest.synthetic.cluster._power_cells import Cells, Levels
from ingest.synthetic.cluster._power_levels import (
    AVERAGE_SD_W,
    COMMUNICATION,
    COMPUTE,
    COOLANT_C,
    INSTANT_SD_W,
    LAG_S,
    PER_WATT_C,
    WAIT,
    Floats,
    swing,
)
from ingest.synthetic.cluster._power_samples import Hindrance, Samples

#: Time over which the driver averages power. [ns]
BOX_NS: Final = 1_000_000_000

#: Samples that are taken at once, so that little is held. [1]
MOST_TIMES: Final = 512

#: GPUs of a group at most: 128 nodes of eight. [1]
MOST_GPUS: Final = 1024

#: How far own work that takes longer lowers its power: a clock that is lower by a
#: factor lowers the voltage, too. [1]
CLOCK_POWER: Final = 2.0

Times = NDArray[np.int64]


@dataclass(slots=True)
class Group:
    """Some neighbouring GPUs, sampled together.

    Attributes:
        gpus: Their positions in the fleet.
        columns: Their columns in the rows.
        tdp_w: Power that each may draw. [W]
        factor: See Traits.
        place_c: See Traits.
        hindered: Times in which clocks are low.
        noise: Noise of unit variance, more than samples are taken at once.
    """

    gpus: slice
    columns: slice
    tdp_w: float
    factor: Floats
    place_c: Floats
    hindered: Sequence[Hindrance]
    noise: Floats
    _warmth: Floats = field(init=False)
    _owed: Floats = field(init=False)
    _before: Cells | None = field(init=False, default=None)
    _sampled_ns: int | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Begin cold, with nothing counted."""
        self._warmth = self.place_c + np.float32(COOLANT_C)
        self._owed = np.zeros_like(self.factor)

    def take(self, rows: Rows, times_ns: Times) -> Iterator[Samples]:
        """Yield the samples at times within rows that follow those before. [ns]"""
        cells = Cells.of(rows, self.columns, self.levels(rows))
        for first in range(0, len(times_ns), MOST_TIMES):
            yield self._sample(cells, times_ns[first : first + MOST_TIMES])
        self._owed += cells.energy[-1]
        self._before = cells

    def forget(self) -> None:
        """Let go of the rows before: none are to come."""
        self._before = None

    def levels(self, rows: Rows) -> Levels:
        """Return the power of each GPU by what it does in rows. [W]"""
        middle_ns = int(rows.start[0] + rows.start[-1]) // 2
        usual = np.float32(self.tdp_w * swing(middle_ns))
        rest = (rows.level * usual)[:, None]
        each = (self.factor * usual)[None, :]
        compute = each * np.float32(COMPUTE)
        for one in self._hindered(rows):
            if len(compute) == 1:
                compute = np.repeat(compute, len(rows.level), axis=0)
            inside = slice(*np.searchsorted(rows.start[:-1], [one.from_ns, one.to_ns]))
            compute[inside, one.gpu] *= np.float32(one.ratio**-CLOCK_POWER)
        wait, communication = np.float32(WAIT), np.float32(COMMUNICATION)
        return Levels(compute, each * wait, each * communication, rest)

    def _hindered(self, rows: Rows) -> Iterator[Hindrance]:
        begun, ended = rows.start[0], rows.start[-1]
        for one in self.hindered:
            if one.from_ns < ended and one.to_ns > begun:
                yield one

    def _sample(self, cells: Cells, times_ns: Times) -> Samples:
        energy = cells.energy_at(times_ns)
        average = self._average(cells, times_ns, energy)
        counted = np.diff(energy, axis=0, prepend=-self._owed[None, :])
        self._owed = -energy[-1]
        spread = np.random.Generator(
            np.random.SFC64([int(times_ns[0]), self.gpus.start])
        )
        average += self._noise(average.shape, AVERAGE_SD_W, spread)
        instant = cells.power_at(times_ns) + self._noise(
            average.shape, INSTANT_SD_W, spread
        )
        return Samples(
            average=_decis(average),
            instant=_decis(instant),
            energy=np.maximum(counted * np.float32(1e3), 0).astype(np.uint32),
            temperature=self._temperature(average, times_ns),
            busy=cells.busy_at(times_ns),
        )

    def _average(self, cells: Cells, times_ns: Times, energy: Floats) -> Floats:
        """Return the mean power of the last second, or of what of it is known. [W]"""
        begun = cells.start_ns[0] if self._before is None else self._before.start_ns[0]
        from_ns = np.maximum(times_ns - BOX_NS, begun)
        earlier = int(np.searchsorted(from_ns, cells.start_ns[0]))
        before = np.empty_like(energy)
        if earlier and self._before is not None:
            known = self._before.energy_at(from_ns[:earlier])
            before[:earlier] = known - self._before.energy[-1]
        before[earlier:] = cells.energy_at(from_ns[earlier:])
        length = np.maximum(times_ns - from_ns, 1) * 1e-9
        spent = energy - before
        spent *= (1 / length).astype(np.float32)[:, None]
        return spent

    def _noise(
        self, shape: tuple[int, ...], sd: float, spread: np.random.Generator
    ) -> Floats:
        """Return noise from a place of its own. [W]"""
        count = shape[0] * shape[1]
        first = int(spread.integers(len(self.noise) - count))
        piece = self.noise[first : first + count] * np.float32(sd)
        return piece.reshape(shape)

    def _temperature(self, average: Floats, times_ns: Times) -> NDArray[np.uint8]:
        """Let the GPUs warm up or cool down to where their power leads. [degC]"""
        lasted = np.diff(times_ns, prepend=self._sampled_ns or times_ns[0]) * 1e-9
        moved = (1 - np.exp(-lasted / LAG_S)).astype(np.float32)
        aim = average * np.float32(PER_WATT_C)
        aim += self.place_c + np.float32(COOLANT_C)
        for row, share in enumerate(moved):
            self._warmth += share * (aim[row] - self._warmth)
            aim[row] = self._warmth
        self._sampled_ns = int(times_ns[-1])
        rounded: NDArray[np.uint8] = np.rint(aim).astype(np.uint8)
        return rounded


def _decis(watts: Floats) -> NDArray[np.uint16]:
    """Return power in tenths of a watt, never less than none. [dW]"""
    tenths: NDArray[np.uint16] = np.maximum(
        watts * np.float32(10) + np.float32(0.5), 0
    ).astype(np.uint16)
    return tenths
