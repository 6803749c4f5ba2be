"""sacct without --parsable2: columns of fixed width under a line of dashes.

A cell that is too long is cut and ends in `+`. The widths are those of the dashes, in
characters; a line that has something between two columns is not of them.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import polars as pl

from ingest.sources._slurm.sacct_records import Header, is_known
from ingest.sources._source import Refusal
from ingest.tables import Jobs

#: Separator that the cells get: a control character, which no cell has.
UNIT: Final = "\x1f"

#: Most fields of a listing; sacct knows some hundred.
FIELDS: Final = 300

#: Rule of a line that does not stand in the columns.
COLUMN_WIDTH: Final = "column_width"

_DASHES: Final = re.compile(r"-+(?: -+)+")


@dataclass(frozen=True, slots=True)
class Columns:
    """Fields in columns: their names, and where each starts and ends."""

    header: Header
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def split(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, tuple[Refusal, ...]]:
        """Join the cells of lines by UNIT; return what is no line of the columns.

        Args:
            frame: Columns `number` and `line`.
        """
        line = pl.col("line").str.replace_all(UNIT, " ", literal=True)
        gaps = [line.str.slice(end, 1).is_in(["", " "]) for end in self.ends[:-1]]
        sizes = zip(self.starts, self.ends, strict=True)
        cells = [line.str.slice(start, end - start) for start, end in sizes]
        is_within = line.str.len_chars() <= self.ends[-1]
        joined = frame.select(
            "number",
            pl.concat_str(cells, separator=UNIT).alias("text"),
            raw="line",
            stands=pl.all_horizontal(is_within, *gaps),
        ).filter(~pl.col("raw").str.contains(r"^-+(?: -+)+$"))
        bad = joined.filter(~pl.col("stands")).select("number", "raw")
        refused = (
            Refusal(Jobs, f"line {number}", COLUMN_WIDTH, raw)
            for number, raw in bad.iter_rows()
        )
        whole = joined.filter("stands").select("number", line="text")
        names = pl.col("line").str.replace_all(f" *{UNIT} *", UNIT).str.strip_chars(" ")
        return whole.filter(names != self.header.line), tuple(refused)


def parse_columns(header: str, dashes: str) -> Columns | None:
    """Return the columns that two lines tell of, None where they tell of none.

    JobID must be the first of them: the lines come without blanks at their start.
    """
    spans = [match.span() for match in re.finditer("-+", dashes)]
    if (
        len(spans) > FIELDS
        or not _DASHES.fullmatch(dashes)
        or not header.startswith("JobID")
    ):
        return None
    names = tuple(header[start:end].strip() for start, end in spans)
    is_blank = all(
        header[end:start] in {" ", ""} for (_, end), (start, _) in pairwise(spans)
    )
    if not is_blank or not is_known(names):
        return None
    starts, ends = zip(*spans, strict=True)
    return Columns(Header(names, UNIT), starts, ends)
