"""Of rows with one key from several files, the table shows one, whatever came first.

The row of the file whose data reaches further wins, then that of the greater file_id.
The others are kept in `duplicate` parts, so that what a table shows depends on which
files are in the lake and not on the order in which they came: when the winner's file
leaves, the next best row comes back.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final, Literal, NamedTuple

import polars as pl

from ingest import _claims, _parts
from ingest._claims import PATH
from ingest._draft import Draft
from ingest._rules import records_of_duplicates
from ingest.manifest import Part
from ingest.tables import IngestedFiles, RejectedRows, Table

#: Gives `file_id` and `last_ns` of files. [ns]
LastOf = Callable[[pl.Series], pl.DataFrame]

_WINS: Final = "_wins"
_SHOWN: Final = "_shown"


class Gone(NamedTuple):
    """Files that leave in a commit, and the parts that showed their rows."""

    file_ids: frozenset[str]
    parts: list[Part]


class Outcome(NamedTuple):
    """Rows that lost and rows that came back, as records of RejectedRows."""

    lost: pl.DataFrame
    back: pl.DataFrame


def settle(draft: Draft, table: type[Table], gone: Gone, last_of: LastOf) -> Outcome:
    """Let the rows of a table that share a key contend, and move them accordingly.

    Args:
        draft: The commit.
        table: Table of raw rows.
        gone: What leaves the table in this commit.
        last_of: Tells how far the data of files reaches.
    """
    nothing = pl.DataFrame(schema=_parts.schema_of(RejectedRows))
    lost, back = [nothing], [nothing]
    wanted = _gone_keys(draft, table, gone)
    for parts in _arenas(draft, table, gone.parts if len(wanted) else []):
        claims = _claims.claims(draft.root, table, parts, wanted)
        if not claims.is_empty():
            judged = _judge(table, claims, parts, last_of)
            losers = judged.filter(~pl.col(_WINS) & pl.col(_SHOWN))
            heirs = judged.filter(pl.col(_WINS) & ~pl.col(_SHOWN))
            lost += _move(draft, table, parts, losers, "duplicate")
            back += _move(draft, table, parts, heirs, "raw")
    return Outcome(pl.concat(lost), pl.concat(back))


def _gone_keys(draft: Draft, table: type[Table], gone: Gone) -> pl.Series:
    """Hashes of keys that files leave behind where other files may claim them."""
    parts = gone.parts
    if not _claims.meeting(draft.parts(table, "duplicate"), parts):
        parts = []
    return _claims.hashes(draft.root, parts, table, gone.file_ids)


def _arenas(draft: Draft, table: type[Table], left: list[Part]) -> Iterator[list[Part]]:
    """Groups of parts in which a key may occur twice, or be free again."""
    incoming = draft.fresh(table, "raw")
    if not table.key or not (incoming or left):
        return
    others = [p for p in draft.parts(table, "raw", "duplicate") if p not in incoming]
    hidden = _claims.meeting(draft.parts(table, "duplicate"), left)
    rivals = _claims.meeting(others, [*incoming, *hidden])
    crowded = [part for part in incoming if len(part.file_ids) > 1]
    met = _claims.meeting(incoming, [*incoming, *rivals])
    parts = {part.path: part for part in (*hidden, *rivals, *crowded, *met)}
    yield from _by_day(table, parts.values())


def _by_day(table: type[Table], parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Equal keys have equal days where the day is of a column of the key."""
    if table.day_column not in table.key:
        yield list(parts)
        return
    ordered = sorted(parts, key=_day)
    for _, group in groupby(ordered, key=_day):
        yield list(group)


def _day(part: Part) -> str:
    return part.day or ""


def _judge(
    table: type[Table], claims: pl.DataFrame, parts: list[Part], last_of: LastOf
) -> pl.DataFrame:
    """Mark the claim that wins its key, and those that the table shows by now."""
    shown = [part.path for part in parts if part.kind == "raw"]
    files = claims[_parts.FILE_ID].unique()
    last_ns = IngestedFiles.last_ns.name
    ordered = claims.join(last_of(files), on=_parts.FILE_ID, how="left").sort(
        last_ns, _parts.FILE_ID, descending=True, nulls_last=True
    )
    return ordered.with_columns(
        (pl.int_range(pl.len()).over(table.key) == 0).alias(_WINS),
        pl.col(PATH).is_in(shown).alias(_SHOWN),
    )


def _move(
    draft: Draft,
    table: type[Table],
    parts: list[Part],
    claims: pl.DataFrame,
    kind: Literal["raw", "duplicate"],
) -> list[pl.DataFrame]:
    """Move rows to parts of another kind; return them as records of RejectedRows."""
    rows_of = _claims.rows_by_path(claims)
    moved = [
        draft.take_out(table, part, rows_of[part.path])
        for part in parts
        if part.path in rows_of
    ]
    if moved:
        draft.write(table, pl.concat(moved), kind)
    return [records_of_duplicates(table, rows) for rows in moved]
