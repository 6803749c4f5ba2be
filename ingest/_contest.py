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

from ingest import _claims, _rules
from ingest._box import Box, meeting
from ingest._claims import PATH
from ingest._draft import Draft
from ingest._schema import FILE_ID, ROW
from ingest._verdicts import Verdicts
from ingest.manifest import Part
from ingest.tables import IngestedFiles, Table

#: Gives `file_id` and `last_ns` of files. [ns]
LastOf = Callable[[pl.Series], pl.DataFrame]

#: Keys that are judged at a time, to bound the memory that it takes: two rows of about
#: 200 B for each.
_KEYS: Final = 500_000

#: Rows that are moved at a time.
_ROWS: Final = 500_000

_WINS: Final = "_wins"
_SHOWN: Final = "_shown"


class Gone(NamedTuple):
    """Files that leave in a commit, and the parts that showed their rows."""

    file_ids: frozenset[str]
    parts: list[Part]


class Arena(NamedTuple):
    """Parts in which a key may occur twice, or be free again, and where to look."""

    parts: list[Part]
    box: Box


def settle(
    draft: Draft, table: type[Table], gone: Gone, last_of: LastOf, verdicts: Verdicts
) -> None:
    """Let the rows of a table that share a key contend, and move them accordingly.

    Args:
        draft: The commit.
        table: Table of raw rows.
        gone: What leaves the table in this commit.
        last_of: Tells how far the data of files reaches.
        verdicts: Told which rows lost and which came back.
    """
    wanted = _gone_keys(draft, table, gone)
    for arena in _arenas(draft, table, gone.parts if len(wanted) else []):
        claims = _judged(draft, table, arena, wanted, last_of)
        losers = claims.filter(~pl.col(_WINS) & pl.col(_SHOWN))
        for rows in _move(draft, table, arena, losers, "duplicate"):
            verdicts.lost(table, rows)
        heirs = claims.filter(pl.col(_WINS) & ~pl.col(_SHOWN))
        for rows in _move(draft, table, arena, heirs, "raw"):
            verdicts.back(table, rows)


def _gone_keys(draft: Draft, table: type[Table], gone: Gone) -> pl.Series:
    """Hashes of keys that files leave behind where other files may claim them."""
    parts = gone.parts
    if not meeting(draft.parts(table, "duplicate"), parts):
        parts = []
    return _claims.hashes(draft.root, parts, table, file_ids=gone.file_ids)


def _arenas(draft: Draft, table: type[Table], left: list[Part]) -> Iterator[Arena]:
    incoming = draft.fresh(table, "raw")
    if not table.key or not (incoming or left):
        return
    coming = {part.path for part in incoming}
    shown = draft.parts(table, "raw", "duplicate")
    others = [part for part in shown if part.path not in coming]
    hidden = meeting(draft.parts(table, "duplicate"), left)
    rivals = meeting(others, [*incoming, *hidden])
    # where the ends of a part are known, no two of its rows share a key
    mixed = (part for part in incoming if len(part.file_ids) > 1)
    crowded = [part for part in mixed if part.key_first is None]
    met = meeting(incoming, [*incoming, *rivals])
    parts = {part.path: part for part in (*hidden, *rivals, *crowded, *met)}
    causes = [*incoming, *left]
    if table.day_column not in table.key:
        yield from _arena(parts.values(), causes)
        return
    # equal keys have equal days: the day is of a column of the key
    for day, group in groupby(sorted(parts.values(), key=_day), key=_day):
        yield from _arena(group, [part for part in causes if _day(part) == day])


def _arena(parts: Iterable[Part], causes: list[Part]) -> Iterator[Arena]:
    found = list(parts)
    if found and causes:
        yield Arena(found, Box.around(causes))


def _day(part: Part) -> str:
    return part.day or ""


def _judged(
    draft: Draft, table: type[Table], arena: Arena, wanted: pl.Series, last_of: LastOf
) -> pl.DataFrame:
    """Return claims, whether they win their key, and whether the table shows them."""
    shown = [part.path for part in arena.parts if part.kind == "raw"]
    found = _claims.repeated(draft.root, arena.parts, table, arena.box, wanted)
    verdicts = [
        pl.DataFrame(schema={PATH: pl.String, ROW: pl.UInt32, _WINS: pl.Boolean})
    ]
    for keys in found.to_frame().iter_slices(_KEYS):
        claims = _claims.claims(
            draft.root, arena.parts, table, arena.box, keys.to_series()
        )
        verdicts.append(_judge(table, claims, last_of))
    return pl.concat(verdicts).with_columns(pl.col(PATH).is_in(shown).alias(_SHOWN))


def _judge(table: type[Table], claims: pl.DataFrame, last_of: LastOf) -> pl.DataFrame:
    files = claims[FILE_ID].unique()
    best_first = [*table.key, IngestedFiles.last_ns.name, FILE_ID]
    ordered = claims.join(last_of(files), on=FILE_ID, how="left").sort(
        best_first, descending=True, nulls_last=True
    )
    return ordered.select(PATH, ROW, (~_rules.repeats(table.key)).alias(_WINS))


def _move(
    draft: Draft,
    table: type[Table],
    arena: Arena,
    claims: pl.DataFrame,
    kind: Literal["raw", "duplicate"],
) -> Iterator[pl.DataFrame]:
    """Move rows to parts of another kind; yield them, some at a time."""
    rows_of = _claims.rows_by_path(claims)
    moved: list[pl.DataFrame] = []
    for part in arena.parts:
        if part.path in rows_of:
            moved.append(draft.take_out(table, part, rows_of[part.path]))
        is_last = part is arena.parts[-1]
        if moved and (is_last or sum(rows.height for rows in moved) >= _ROWS):
            rows = pl.concat(moved)
            moved.clear()
            draft.write(table, rows, kind)
            yield rows
