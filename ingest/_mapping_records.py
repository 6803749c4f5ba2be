"""Records of a file of cells: lines, joined where a quoted cell goes on in the next."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

import polars as pl

from ingest._mapping_cells import LINE, RULE
from ingest._mapping_layout import Layout
from ingest.sources._lines import TOO_LONG, Block, blocks

#: Lines that a record may take: a cell that is longer has lost its closing quote, and
#: would swallow the rest of the file.
RECORD_LINES: Final = 1_000

#: Rule of a line that opens a cell which nothing closes.
OPEN_QUOTE: Final = "open_quote"

_QUOTE: Final = '"'


@dataclass(slots=True)
class _Joiner:
    """Joins lines to records; keeps the lines of one that goes on in the next block."""

    opens: re.Pattern[str]
    kept: pl.DataFrame | None = None

    def records(self, lines: pl.DataFrame, *, is_last: bool) -> pl.DataFrame:
        if self.kept is not None:
            lines = pl.concat([self.kept, lines])
            self.kept = None
        quotes = pl.col(LINE).str.count_matches(_QUOTE, literal=True)
        odd = lines.select((quotes % 2 == 1).arg_true()).to_series().to_list()
        if not odd:
            return lines
        spans, broken, rest = self._spans(lines, odd, is_last=is_last)
        if rest is not None:
            self.kept, lines = lines.slice(rest), lines.head(rest)
        return _join(lines, spans, broken)

    def _spans(
        self, lines: pl.DataFrame, odd: Sequence[int], *, is_last: bool
    ) -> tuple[list[tuple[int, int]], list[int], int | None]:
        """Return first and last lines of records, lines that are none, and the rest."""
        spans: list[tuple[int, int]] = []
        broken: list[int] = []
        begin: int | None = None
        texts = lines[LINE]
        for line in odd:
            if begin is not None and line - begin <= RECORD_LINES:
                spans.append((begin, line))
                begin = None
                continue
            if begin is not None:
                broken.append(begin)
            begin = line if self.opens.search(texts[line]) else None
        if begin is None:
            return spans, broken, None
        if is_last or lines.height - begin > RECORD_LINES:
            return spans, [*broken, begin], None
        return spans, broken, begin


def _join(
    lines: pl.DataFrame, spans: list[tuple[int, int]], broken: list[int]
) -> pl.DataFrame:
    index = pl.int_range(pl.len())
    firsts, lasts = [a for a, _ in spans], [b for _, b in spans]
    inside = index.is_in([a + 1 for a in firsts]).cast(pl.Int64).cum_sum() - (
        index.is_in([b + 1 for b in lasts]).cast(pl.Int64).cum_sum()
    )
    rule = pl.when(index.is_in(broken)).then(pl.lit(OPEN_QUOTE)).otherwise(RULE)
    return (
        lines.with_columns(rule.alias(RULE), _record=(inside == 0).cum_sum())
        .group_by("_record", maintain_order=True)
        .agg(pl.col("number", RULE).first(), pl.col(LINE).str.join("\n"))
        .select("number", LINE, RULE)
    )


def records(
    stream: BinaryIO, delimiter: str, layout: Layout
) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield records with the `number` of their first line, and the repairs."""
    joiner = _Joiner(re.compile(rf'(?:^|{re.escape(delimiter)}) *"(?:[^"]|"")*$'))
    held: Block | None = None
    for block in blocks(stream):
        if held is not None:
            yield _records(held, joiner, layout, is_last=False), held.repairs
        held = block
    if held is not None:
        yield _records(held, joiner, layout, is_last=True), held.repairs


def _records(
    block: Block, joiner: _Joiner, layout: Layout, *, is_last: bool
) -> pl.DataFrame:
    data = block.data.removesuffix(b"\n")
    texts = data.decode("utf-8", errors="replace").split("\n")
    is_cut = pl.lit(block.cut) & (pl.col("number") == block.first)
    lines = (
        pl.DataFrame({LINE: texts}, schema={LINE: pl.String})
        .with_row_index("number", block.first)
        .filter(pl.col("number") > layout.skip)
        .select(
            "number",
            pl.col(LINE).str.strip_suffix("\r"),
            pl.when(is_cut).then(pl.lit(TOO_LONG)).alias(RULE),
        )
    )
    found = joiner.records(lines, is_last=is_last)
    if layout.comment:
        found = found.filter(~pl.col(LINE).str.starts_with(layout.comment))
    return found.filter(pl.col(LINE).str.strip_chars() != "")
