"""Sections of a file of sacct: the lines under each header."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, pairwise

import polars as pl

from ingest.sources._lines_frames import Lines
from ingest.sources._slurm.sacct_columns import Columns, parse_columns
from ingest.sources._slurm.sacct_records import Header, parse_header

#: What every header of several sections has.
_NAMES = ("JobID", "State")


def first_header(lines: list[str]) -> Header | Columns | None:
    """Return the header that a file starts with, None where it starts with none."""
    if not lines:
        return None
    header = parse_header(lines[0])
    columns = parse_columns(*lines[:2]) if lines[1:] else None
    return header or columns


def sections(
    first: Header | Columns, blocks: Iterable[Lines]
) -> Iterator[tuple[Header, Lines]]:
    """Yield lines with the header that they stand under.

    A file may have been put together of several listings, each with its own header.
    """
    if isinstance(first, Columns):
        for lines in blocks:
            frame, refused = first.split(lines.frame)
            yield (
                first.header,
                replace(lines, frame=frame, refused=(*lines.refused, *refused)),
            )
        return
    header = first
    for lines in blocks:
        found = _headers(lines.frame)
        cuts = [0, *(place for place, _ in found), len(lines.frame)]
        under = [header, *(new for _, new in found)]
        rest = lines
        for (start, end), header in zip(pairwise(cuts), under, strict=True):
            yield header, replace(rest, frame=lines.frame.slice(start, end - start))
            rest = replace(lines, refused=(), repairs=0)


def _headers(frame: pl.DataFrame) -> list[tuple[int, Header]]:
    """Return the places of headers among some lines, and what they are."""
    named = [pl.col("line").str.contains(name, literal=True) for name in _NAMES]
    likely = frame.with_row_index("place").filter(pl.all_horizontal(named))
    parsed = (
        (place, parse_header(line))
        for place, line in likely.select("place", "line").iter_rows()
    )
    return [(place, header) for place, header in parsed if header is not None]


def peeked(blocks: Iterable[Lines]) -> tuple[list[str], Iterable[Lines]]:
    """Return the first two lines, and all blocks again."""
    blocks = iter(blocks)
    seen: list[Lines] = []
    lines: list[str] = []
    for block in blocks:
        seen.append(block)
        lines.extend(block.frame["line"].head(2).to_list())
        if len(lines) > 1:
            break
    return lines[:2], chain(seen, blocks)
