"""Samples of a group in the order of time, kept in a file until all are there."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ingest.synthetic.cluster._power_samples import Samples


@dataclass(slots=True)
class Spool:
    """A file of samples, of which those of some GPUs are read when all are there.

    Attributes:
        path: The file.
        gpus: GPUs of the group. [1]
    """

    path: Path
    gpus: int
    _times: list[NDArray[np.int64]] = field(init=False, default_factory=list)
    _idle: list[NDArray[np.bool_]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        """Begin with an empty file."""
        self.path.write_bytes(b"")

    def add(
        self, times_ns: NDArray[np.int64], idle: NDArray[np.bool_], samples: Samples
    ) -> None:
        """Append samples of some times. [ns]"""
        self._times.append(times_ns)
        self._idle.append(idle)
        with self.path.open("ab") as file:
            for part in samples:
                part.tofile(file)

    @property
    def times_ns(self) -> NDArray[np.int64]:
        """Times of the samples. [ns]"""
        return np.concatenate(self._times or [np.empty(0, np.int64)])

    @property
    def idle(self) -> NDArray[np.bool_]:
        """Whether no run held the GPUs, at each time."""
        return np.concatenate(self._idle or [np.empty(0, np.bool_)])

    def read(self, gpus: NDArray[np.intp]) -> Samples:
        """Return the samples of some GPUs, by their positions; GPUs x times."""
        count = sum(map(len, self._times))
        found = Samples(*(np.empty((len(gpus), count), kind) for kind in _KINDS))
        if not count:
            return found
        data = np.memmap(self.path, np.uint8, "r")
        at = first = 0
        for times in self._times:
            last = first + len(times)
            for part in found:
                end = at + len(times) * self.gpus * part.itemsize
                piece = data[at:end].view(part.dtype).reshape(len(times), self.gpus)
                part[:, first:last] = piece[:, gpus].T
                at = end
            first = last
        return found

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)


#: Types of the parts of samples.
_KINDS: Final = (np.uint16, np.uint16, np.uint32, np.uint8, np.uint8)
