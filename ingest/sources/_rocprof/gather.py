"""Take work and calls from a trace of rocprof, whichever of its forms it has."""

import mmap
from pathlib import Path
from typing import Final

import polars as pl

from ingest.sources._kineto.document import Document
from ingest.sources._kineto.events import decode_as
from ingest.sources._kineto.losses import Losses
from ingest.sources._kineto.spool import Spool
from ingest.sources._rocprof.agents import Process
from ingest.sources._rocprof.document import (
    Part,
    end_of,
    is_text,
    is_whole,
    mapped,
    parts,
)
from ingest.sources._rocprof.events import AGENTS, SYMBOLS, Agent, Symbol
from ingest.sources._rocprof.work import calls, copies, dispatches, operations
from ingest.sources._source import HEAD_BYTES

_TOOL: Final = b'"rocprofiler-sdk-tool"'

#: Bytes behind the end of a document in which NUL bytes are looked for. [B]
_TAIL_BYTES: Final = 4_096

#: Bytes that a document cut short is shown by. [B]
_SHOWN_BYTES: Final = 80


#: Rows that are put together before they are spooled: one frame for each list of each
#: process would take some milliseconds for every one. [1]
ROWS_TOGETHER: Final = 1 << 16

#: Frames that are put together at most. [1]
_FRAMES_TOGETHER: Final = 4_096


class _Together:
    """Puts small frames together on their way to a spool."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._frames: list[pl.DataFrame] = []
        self._rows = 0

    def add(self, rows: pl.DataFrame) -> None:
        """Add rows."""
        self._frames.append(rows)
        self._rows += rows.height
        if self._rows >= ROWS_TOGETHER or len(self._frames) >= _FRAMES_TOGETHER:
            self.finish()

    def finish(self) -> None:
        """Spool what was added."""
        if self._rows:
            self._spool.add(pl.concat(self._frames))
        self._frames, self._rows = [], 0


class Gathering:
    """What was taken from a trace.

    Attributes:
        records: Records seen, of any kind. [1]
        work: Frames of work.
        launches: Frames of calls.
        places: Processes and devices that did some work.
    """

    def __init__(self, work: Spool, launches: Spool, losses: Losses) -> None:
        """Begin with empty spools."""
        self.records = 0
        self.work, self.launches = work, launches
        self._some_work, self._some_launches = _Together(work), _Together(launches)
        self.places: set[tuple[int, int]] = set()
        self._losses = losses

    def take(self, path: Path) -> bool:
        """Take a file; return whether it is a JSON object."""
        is_object = self._take(path)
        self._some_work.finish()
        self._some_launches.finish()
        return is_object

    def _take(self, path: Path) -> bool:
        with mapped(path) as content:
            if _TOOL in content[:HEAD_BYTES]:
                self._take_processes(content)
                return True
        with path.open("rb") as file:
            document = Document(file, self._losses)
            if document.opening != b"{":
                return False
            for block in document.blocks():
                self._add(operations(block, self.records), 0)
                self.records += len(block.events)
        return True

    def _take_processes(self, content: mmap.mmap | bytes) -> None:
        process, losses = Process(0), self._losses
        end, done = end_of(content), 0
        losses.repairs += b"\0" in content[end : end + _TAIL_BYTES]
        for key, place in parts(content):
            if key == "metadata":
                process = Process(process.number + 1)
                continue
            losses.repairs += not is_text(content, done, place)
            part = Part(content, place, end, losses)
            self._take_part(key, part, process)
            done = max(done, part.end)
        losses.repairs += not is_text(content, done, end)
        if not is_whole(content, end):
            raw = content[max(end - _SHOWN_BYTES, 0) : end]
            losses.refuse("truncated", f"byte {end}", raw)

    def _take_part(self, key: str, part: Part, process: Process) -> None:
        for block in part.blocks:
            match key:
                case "agents":
                    process.add_agents(decode_as(block.text, Agent, AGENTS))
                case "kernel_symbols":
                    process.add_symbols(decode_as(block.text, Symbol, SYMBOLS))
                case "kernel_dispatch":
                    rows = dispatches(block, process, self.records)
                    self._add(rows, process.number)
                    self.records += len(block.events)
                case "memory_copy":
                    self._add(copies(block, process, self.records), process.number)
                    self.records += len(block.events)
                case _:
                    self._some_launches.add(calls(block, process))
                    self.records += len(block.events)

    def _add(self, rows: pl.DataFrame, process: int) -> None:
        if rows.is_empty():
            return
        self._some_work.add(rows)
        devices = rows["device"].drop_nulls().unique()
        self.places |= {(process, device) for device in devices}
