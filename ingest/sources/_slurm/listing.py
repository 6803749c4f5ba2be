"""Listings of squeue and sinfo: a header of capitals, and cells under it."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._lines_frames import Lines
from ingest.sources._source import RAW_CHARACTERS, Head, Refusal
from ingest.tables import Table

#: Rule of a line that has more or fewer cells than its header.
CELL_COUNT: Final = "cell_count"

#: Column of the cluster that lines stand under, where a listing is of several.
UNDER: Final = "under"

#: Lines among which a header is looked for: a date may stand before it.
HEADER_LINES: Final = 3

#: Most fields of a listing; squeue knows some hundred.
FIELDS: Final = 300

#: Names of fields: STATE, NODELIST(REASON), S:C:T, CPUS(A/I/O/T), %CPU.
_NAME: Final = re.compile(r"[A-Z%][A-Z0-9_%:/().+]*")

#: What stands between two names where it is more than blanks.
_DELIMITER: Final = re.compile(r"[A-Z)] *([^\w\s()%:/.]{1,4}) *[A-Z%]")


@dataclass(frozen=True, slots=True)
class Listing:
    """The header of a listing.

    Attributes:
        names: Names of its fields, in order; some stand twice.
        delimiter: What is between two cells; empty where blanks align them.
    """

    names: tuple[str, ...]
    delimiter: str

    @property
    def pattern(self) -> str:
        """The expression whose groups are the cells of a line."""
        if self.delimiter:
            cell = f"(.*?)(?:{re.escape(self.delimiter)}|$)"
            return "^" + cell * len(self.names) + "$"
        cells = [r"(.*?)" if name == "REASON" else r"(\S+)" for name in self.names]
        return "^" + r"\s+".join(cells) + "$"


def parse_listing(line: str) -> Listing | None:
    """Return the header that a line is, None where it is none."""
    text = line.strip()
    found = _DELIMITER.search(text)
    names = text.split(found[1]) if found else text.split()
    stripped = tuple(name.strip() for name in names)
    if len(stripped) > 1 and not stripped[-1]:
        stripped = stripped[:-1]
    if len(stripped) > FIELDS or not all(map(_NAME.fullmatch, stripped)):
        return None
    return Listing(stripped, found[1] if found else "")


def cells_of(
    lines: Lines,
    listing: Listing,
    wanted: dict[str, tuple[str, ...]],
    table: type[Table],
) -> tuple[pl.DataFrame, tuple[Refusal, ...]]:
    """Return the cells of lines, and those that have too many or too few.

    Args:
        lines: Lines under the header; a header that is repeated is dropped.
        listing: The header.
        wanted: Names that a column may have in the header, by the name that it gets.
        table: What a line is refused for.
    """
    first = pl.col("line").str.extract(r"^(\w+)") != listing.names[0]
    frame = lines.frame.filter(first).with_columns(cells=_cells(listing))
    bad = frame.filter(pl.col("cells").list.len() != len(listing.names))
    refused = tuple(
        Refusal(table, f"line {number}", CELL_COUNT, line[:RAW_CHARACTERS])
        for number, line in bad.select("number", "line").iter_rows()
    )
    whole = frame.filter(pl.col("cells").list.len() == len(listing.names))
    under = [pl.col(UNDER)] if UNDER in whole.columns else []
    return whole.select(
        phrase("line {}", "number").alias("place"),
        pl.col("line").str.head(RAW_CHARACTERS).alias("raw"),
        *under,
        *(_cell(listing, names).alias(name) for name, names in wanted.items()),
    ), refused


def _cells(listing: Listing) -> pl.Expr:
    """Return the cells of a line; none where blanks do not align it."""
    line = pl.col("line")
    if listing.delimiter:
        cells = line.str.split(listing.delimiter)
        # -o "%i|%j|" ends its lines in a bar, its header too
        ends = cells.list.len() == len(listing.names) + 1
        return pl.when(ends).then(cells.list.head(len(listing.names))).otherwise(cells)
    groups = line.str.extract_groups(listing.pattern)
    count = range(len(listing.names))
    return pl.concat_list(groups.struct[place] for place in count).list.drop_nulls()


def _cell(listing: Listing, names: tuple[str, ...]) -> pl.Expr:
    """Return the first of some columns that the listing has, null where none."""
    for name in names:
        if name in listing.names:
            cell = pl.col("cells").list.get(listing.names.index(name))
            return cell.str.strip_chars()
    return pl.lit(None, pl.String)


def with_header(
    blocks: Iterator[Lines], accepts: Callable[[Listing], bool]
) -> Iterator[tuple[Listing | None, Lines]]:
    """Yield lines with the header that one of the first of them is.

    What stands before it (the date that sinfo --long prints) comes without one.
    """
    listing: Listing | None = None
    for lines in blocks:
        rest = lines
        if listing is None:
            place, listing = find_header(
                lines.frame["line"].head(HEADER_LINES), accepts
            )
            yield None, replace(lines, frame=lines.frame.head(place), refused=())
            rest = replace(lines, frame=lines.frame.slice(place), repairs=0)
        yield listing, rest


def with_clusters(blocks: Iterable[Lines]) -> Iterator[Lines]:
    """Yield lines with the cluster that they stand `UNDER`, without its own lines.

    With --clusters a line `CLUSTER: name` stands before the header of each.
    """
    before: str | None = None
    name = pl.col("line").str.extract(r"^CLUSTER: (\S+)\s*$")
    for lines in blocks:
        marked = lines.frame.with_columns(
            name.forward_fill().fill_null(pl.lit(before, pl.String)).alias(UNDER)
        )
        if len(marked):
            before = marked[UNDER][-1]
        yield replace(lines, frame=marked.filter(name.is_null()))


def has_header(head: Head, accepts: Callable[[Listing], bool]) -> bool:
    """Return whether a header is among the first lines of a file."""
    lines = [line for line in head.text.splitlines()[:HEADER_LINES] if line.strip()]
    return find_header(lines, accepts)[1] is not None


def find_header(
    lines: Iterable[str], accepts: Callable[[Listing], bool]
) -> tuple[int, Listing | None]:
    """Return the place of the header among the first lines, and the header."""
    for place, line in enumerate(lines):
        listing = parse_listing(line)
        if listing is not None and accepts(listing):
            return place, listing
    return 0, None
