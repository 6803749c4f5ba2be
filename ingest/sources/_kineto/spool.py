"""Frames that wait for the end of a trace: the first in memory, many on disk."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import polars as pl


class Spool:
    """Frames of one schema, handed out in the order in which they came."""

    def __init__(self, rows_in_memory: int) -> None:
        """Begin with nothing, and write to disk what is more than some rows."""
        self._rows_in_memory = rows_in_memory
        self._frames: list[pl.DataFrame | Path] = []
        self._held: list[int] = []
        self._rows = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        """Nothing is on disk yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove what is on disk."""
        if self._folder:
            self._folder.cleanup()

    def add(self, frame: pl.DataFrame) -> None:
        """Keep a frame; what memory should not hold is written to disk."""
        self._held.append(len(self._frames))
        self._frames.append(frame)
        self._rows += len(frame)
        if self._rows > self._rows_in_memory:
            self._write()

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield the frames, one in memory at a time."""
        for number in range(len(self)):
            yield self[number]

    def __len__(self) -> int:
        """Return how many frames there are."""
        return len(self._frames)

    def __getitem__(self, number: int) -> pl.DataFrame:
        """Return one frame."""
        frame = self._frames[number]
        if isinstance(frame, pl.DataFrame):
            return frame
        return pl.read_ipc_stream(frame)

    def _write(self) -> None:
        folder = self._folder or tempfile.TemporaryDirectory(prefix="gpuledger-")
        self._folder = folder
        for number in self._held:
            path = Path(folder.name) / f"{number}.arrow"
            self[number].write_ipc_stream(path)
            self._frames[number] = path
        self._held, self._rows = [], 0
