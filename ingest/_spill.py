"""Rows put aside on disk while others are read."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import polars as pl
import pyarrow as pa

from ingest import _disk

#: How the rows are packed: quick, and a third of their size.
_PACKED: Final = pa.ipc.IpcWriteOptions(compression="zstd")


class Spill:
    """Frames of equal columns in a file that does not outlive its use.

    The file lies in the lake's folder, since there is room for what is merged; should
    the process die, the next writer deletes it.
    """

    def __init__(self, root: Path) -> None:
        """Put rows aside for a lake; nothing is written before there are any."""
        self._path = root / f"{_disk.PARTIAL}{secrets.token_hex(8)}-rows"

    def add(self, frame: pl.DataFrame) -> None:
        """Put rows aside, behind those that are there."""
        table = frame.to_arrow()
        with (
            self._path.open("ab") as file,
            pa.ipc.new_stream(file, table.schema, options=_PACKED) as stream,
        ):
            stream.write_table(table)

    def frames(self) -> Iterator[pl.DataFrame]:
        """Yield the rows as they were put aside."""
        if not self._path.exists():
            return
        size = self._path.stat().st_size
        with self._path.open("rb") as file:
            while file.tell() < size:
                with pa.ipc.open_stream(file) as stream:
                    yield cast("pl.DataFrame", pl.from_arrow(stream.read_all()))

    def delete(self) -> None:
        """Delete the rows."""
        self._path.unlink(missing_ok=True)
