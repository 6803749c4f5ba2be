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
from ingest.sources._rocprof.document import blocks_at, is_whole, mapped, parts
from ingest.sources._rocprof.events import AGENTS, SYMBOLS, Agent, Symbol
from ingest.sources._rocprof.work import calls, copies, dispatches, operations
from ingest.sources._source import HEAD_BYTES

_TOOL: Final = b'"rocprofiler-sdk-tool"'


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
        self.places: set[tuple[int, int]] = set()
        self._losses = losses

    def take(self, path: Path) -> bool:
        """Take a file; return whether it is a JSON object."""
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
        process = Process(0)
        for key, place in parts(content):
            if key == "metadata":
                process = Process(process.number + 1)
            else:
                self._take_part(key, content, place, process)
        if not is_whole(content):
            self._losses.refuse("truncated", f"byte {len(content)}", content[-80:])

    def _take_part(
        self, key: str, content: mmap.mmap | bytes, place: int, process: Process
    ) -> None:
        for block in blocks_at(content, place, self._losses):
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
                    self.launches.add(calls(block, process))
                    self.records += len(block.events)

    def _add(self, rows: pl.DataFrame, process: int) -> None:
        if rows.is_empty():
            return
        self.work.add(rows)
        devices = rows["device"].drop_nulls().unique()
        self.places |= {(process, device) for device in devices}
