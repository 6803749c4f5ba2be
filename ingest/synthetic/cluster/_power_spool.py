"""Samples of a group in the order of time, kept in a file until all are there."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingest.synthetic.cluster._power_group import Samples


@dataclass(slots=True)
class Spool:
    """A file of samples, of which columns are read when all are there.

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

    def read(self) -> Samples:
        """Return all samples, GPUs x times, and remove the file."""
        pieces = [*self._pieces()]
        self.path.unlink(missing_ok=True)
        if not pieces:
            return Samples(*(np.empty((self.gpus, 0), kind) for kind in _KINDS))
        return Samples(
            *(
                np.ascontiguousarray(np.concatenate(part).T)
                for part in zip(*pieces, strict=True)
            )
        )

    def _pieces(self) -> Iterator[Samples]:
        if not self._times:
            return
        data = np.fromfile(self.path, np.uint8)
        at = 0
        for times in self._times:
            parts: list[NDArray[Any]] = []
            for kind in _KINDS:
                end = at + len(times) * self.gpus * np.dtype(kind).itemsize
                parts.append(data[at:end].view(kind).reshape(len(times), self.gpus))
                at = end
            yield Samples(*parts)


#: Types of the parts of samples.
_KINDS = (np.uint16, np.uint16, np.uint32, np.uint8, np.uint8)
