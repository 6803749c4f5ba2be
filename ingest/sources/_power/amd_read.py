"""Read what AMD's tools write, CSV or JSON, with times or without."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

import polars as pl

from ingest.sources._lines import blocks
from ingest.sources._lines_csv import CELL_COUNT
from ingest.sources._power.amd import Named, units_of
from ingest.sources._power.amd_csv import TIME, AmdLayout, cells, header_of, parts
from ingest.sources._power.json import JsonDocument, JsonDocuments
from ingest.sources._power.rows import NO_TIME, any_measured, batch, samples
from ingest.sources._power.stamps import NAIVE, instant
from ingest.sources._power.untimed import Untimed
from ingest.sources._source import HEAD_LINES, Batch, Reading, Refusal

#: A GPU of a document: its cells by field, and `timestamp` where the tool tells it.
Found = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Tool:
    """What differs between the tools.

    Attributes:
        named: Fields and units by the names of the tool.
        first: Column that every header of its CSV has.
        gpus: GPUs of a document of its JSON.
        mend: How to make it tell the time.
    """

    named: Named
    first: str
    gpus: Callable[[object], Iterator[Found]]
    mend: str

    def header(self, line: str) -> AmdLayout | None:
        """Return the layout of a header of its CSV; None where a line is none."""
        return header_of(line, self.first, self.named)

    def has_header(self, text: str) -> bool:
        """Return whether one of the first lines is a header of its CSV."""
        lines = text.split("\n", HEAD_LINES)[:HEAD_LINES]
        return any(self.header(line.strip()) for line in lines)


def read(stream: BinaryIO, reading: Reading, tool: Tool) -> Iterator[Batch]:
    """Read a file of a tool."""
    rows = _Rows(reading, tool)
    documents = JsonDocuments()
    layout: AmdLayout | None = None
    is_csv: bool | None = None
    for block in blocks(stream):
        yield Batch(repairs=block.repairs)
        if is_csv is None:
            is_csv = tool.has_header(block.data.decode("utf-8", errors="replace"))
        if is_csv:
            for layout, lines in parts(block, layout, tool.header):  # noqa: B020
                yield from rows.of_lines(lines, layout)
        else:
            yield from rows.of_documents(documents.read(block))
    yield from rows.of_documents(documents.close())
    yield from rows.rest()


class _Rows:
    """Makes rows of cells, which may have to wait for their time."""

    def __init__(self, reading: Reading, tool: Tool) -> None:
        self._reading = reading
        self._tool = tool
        self._untimed = Untimed(reading)
        self._hints = {
            NO_TIME: f"no time is told; {tool.mend}",
            CELL_COUNT: "a line with a cell for each name of the header was expected",
            "before_header": "no header told yet which column each cell is of",
        }

    def of_lines(
        self, lines: pl.DataFrame, layout: AmdLayout | None
    ) -> Iterator[Batch]:
        """Yield the rows of lines of CSV."""
        if layout is None:
            found = lines.with_columns(rule=pl.lit("before_header"))
            yield batch(found, found.height, hints=self._hints)
            return
        named = self._tool.named
        told = cells(lines, layout, named)
        yield from self._made(told, units_of(named, layout.names))

    def of_documents(
        self, documents: Iterator[JsonDocument | Refusal]
    ) -> Iterator[Batch]:
        """Yield the rows of documents."""
        found: list[tuple[int, Found]] = []
        refused: list[Refusal] = []
        repairs = 0
        for document in documents:
            if isinstance(document, Refusal):
                refused.append(document)
            else:
                repairs += document.repairs
                found += [(document.line, gpu) for gpu in self._gpus(document)]
        yield Batch(refused=tuple(refused), records=len(refused), repairs=repairs)
        if found:
            units = dict(self._tool.named.values())
            yield from self._made(_frame(found, units), units)

    def rest(self) -> Iterator[Batch]:
        """Yield the rows that have the time of the file."""
        for told, units in self._untimed.rest():
            yield batch(samples(told, units, self._reading), 0, hints=self._hints)

    def _gpus(self, document: JsonDocument) -> Iterator[Found]:
        return self._tool.gpus(document.value)

    def _made(self, told: pl.DataFrame, units: Mapping[str, str]) -> Iterator[Batch]:
        records = told.height
        told = told.filter(pl.col("rule").is_not_null() | any_measured(units))
        if TIME in told.columns:
            has_time = pl.col(TIME).is_not_null()
            timed = told.filter(has_time).with_columns(
                *instant(pl.col(TIME), self._reading)
            )
            rows = samples(timed, units, self._reading)
            needed = bool(timed[NAIVE].any())
            yield batch(rows, 0, zone_used=needed, hints=self._hints)
            told = told.filter(~has_time)
        yield Batch(records=records)
        for part, units_ in self._untimed.place(told, units):
            rows = samples(part, units_, self._reading)
            yield batch(rows, 0, hints=self._hints)


def _frame(found: list[tuple[int, Found]], units: Mapping[str, str]) -> pl.DataFrame:
    """Return GPUs of documents as cells."""
    names = (*units, TIME)
    columns: dict[str, list[str | None]] = {
        "place": [f"line {line}" for line, _ in found],
        "line": [repr({k: v for k, v in gpu.items() if v}) for _, gpu in found],
        "rule": [None for _ in found],
    }
    columns |= {name: [gpu.get(name) for _, gpu in found] for name in names}
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
