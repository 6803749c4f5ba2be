"""What was refused, in words: a line for each file, or for many of one reason."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import polars as pl

from ingest import staging
from ingest.tables import IngestedFiles, RejectedRows

#: Lines about refused files in a summary; the other files are in the lake.
LINES: Final = 20

#: Files of one reason that become one line, so that a folder of licences does not hide
#: the rest.
TOGETHER: Final = 4

#: Files that are named at the most; of more, some are and the rest is a count.
NAMED: Final = 5
NAMED_OF_MORE: Final = 3

#: How a guess begins about a file that a mapping can take.
_MAPPABLE: Final = tuple(
    f"looks like {what}"
    for what in ("CSV", "TSV", "cells", "JSON lines", "a JSON list of", "Parquet with")
)

_MENDS: Final = "; write a mapping for it (README, Mapping)"


class Fault(NamedTuple):
    """The first refusal of a file."""

    rule: str
    place: str
    hint: str | None

    def __str__(self) -> str:
        """Tell it in words."""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.rule} at {self.place}{hint}"


def first_faults(rejected: pl.LazyFrame, files: Sequence[str]) -> dict[str, Fault]:
    """Return the first refusal of each file, by the place in the file.

    Args:
        rejected: Rows of RejectedRows.
        files: Identities of the files.
    """
    mine = rejected.filter(RejectedRows.file_id.col.is_in(files)).with_columns(
        number=RejectedRows.place.col.str.extract(r"(\d+)").cast(pl.Int64, strict=False)
    )
    first = (
        mine.sort("number", "place", "rule", nulls_last=True)
        .unique("file_id", keep="first", maintain_order=True)
        .select("file_id", *Fault._fields)
    )
    return {row[0]: Fault(*row[1:]) for row in first.collect().iter_rows()}


def lines(refused: pl.DataFrame, faults: Mapping[str, Fault]) -> Iterator[str]:
    """Yield what was refused: files of which rows were, then those nobody reads.

    Args:
        refused: Rows of IngestedFiles of which something was refused.
        faults: The first refusal of each, by its identity.
    """
    is_unread = IngestedFiles.source.col == staging.UNRECOGNIZED
    rows = refused.sort(is_unread, IngestedFiles.path.name)
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows.iter_rows(named=True):
        groups.setdefault(_reason(row, faults.get(row["file_id"])), []).append(row)
    told = list(_told(groups.values(), faults))
    yield from (line for line, _ in told[:LINES])
    if more := sum(count for _, count in told[LINES:]):
        yield f"and {more} more files: see ingested_files where rows_rejected > 0"


def _reason(row: Mapping[str, Any], fault: Fault | None) -> tuple[str, str]:
    if fault is None:
        return row["source"], ""
    if row["source"] == staging.UNRECOGNIZED:
        return row["source"], fault.hint or ""
    return row["source"], fault.rule


def _told(
    groups: Iterable[Sequence[Mapping[str, Any]]], faults: Mapping[str, Fault]
) -> Iterator[tuple[str, int]]:
    """Yield lines, and of how many files each tells."""
    for rows in groups:
        if len(rows) >= TOGETHER:
            yield _many(rows, faults.get(rows[0]["file_id"])), len(rows)
            continue
        for row in rows:
            yield _one(row, faults.get(row["file_id"])), 1


def _one(row: Mapping[str, Any], fault: Fault | None) -> str:
    path = row["path"]
    if row["source"] == staging.UNRECOGNIZED:
        return f"{path}: refused: {_guess(fault)}"
    return (
        f"{path}: {row['rows_rejected']} of {row['rows_read']} rows refused, first"
        f" {fault or ''}: see rejected_rows where file_id = '{row['file_id']}'"
    )


def _many(rows: Sequence[Mapping[str, Any]], fault: Fault | None) -> str:
    names = named([str(row["path"]) for row in rows])
    source = rows[0]["source"]
    if source == staging.UNRECOGNIZED:
        return f"{len(rows)} files: refused: {_guess(fault)}: {names}"
    rejected, read = (sum(r[n] for r in rows) for n in ("rows_rejected", "rows_read"))
    return (
        f"{len(rows)} files of {source}: {rejected} of {read} rows refused, first"
        f" {fault or ''}: {names}: see rejected_rows"
    )


def files_in_words(count: int) -> str:
    """Return how many files there are, in words."""
    return f"{count} file{'s' * (count != 1)}"


def named(names: Sequence[str]) -> str:
    """Return all of a few names, or the first of many and the count of the rest."""
    shown = names if len(names) <= NAMED else names[:NAMED_OF_MORE]
    more = len(names) - len(shown)
    return f"{', '.join(shown)}{f' and {more} more' if more else ''}"


def _guess(fault: Fault | None) -> str:
    hint = (fault.hint if fault else None) or "no source recognizes it"
    return f"{hint}{_MENDS}" if hint.startswith(_MAPPABLE) else hint
