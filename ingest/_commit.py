"""Bring staged files into the lake: one generation, whole or not at all."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import polars as pl

from ingest import _scans
from ingest._contest import Gone, settle
from ingest._draft import Draft
from ingest._offers import ACCEPTED, REJECTED, together
from ingest._retiring import RETIRED, late_parts, leave, traced_files
from ingest._schema import FILE_ID
from ingest._verdicts import Verdicts
from ingest.errors import LakeError
from ingest.staging import Staged
from ingest.tables import TABLES, IngestedFiles, RejectedRows, Table

#: Tables that tell of files; their rows are never in contest.
_ABOUT_FILES: Final = (IngestedFiles, RejectedRows)

#: Tables of raw rows.
_RAW: Final = tuple(table for table in TABLES if table not in _ABOUT_FILES)


class Chosen(NamedTuple):
    """Files of a commit: those that come, those that leave, those known before."""

    new: frozenset[str]
    gone: frozenset[str]
    known: frozenset[str]


def choose(draft: Draft, staged: Sequence[Staged]) -> Chosen:
    """Tell which files come, and which leave for them.

    A file that is in the lake already does not come again, nor one of which another
    file of the same commit is a newer state.
    """
    live = {f for part in draft.parts(IngestedFiles) for f in part.file_ids}
    offered = {file_id for some in staged for file_id in some.files[FILE_ID]}
    known = offered & live
    gone = {
        old
        for some in staged
        for file_id, superseded in some.supersedes.items()
        if file_id not in known
        for old in superseded
        if old != file_id
    }
    return Chosen(frozenset(offered - live - gone), frozenset(gone), frozenset(known))


def bring(draft: Draft, staged: Sequence[Staged]) -> tuple[Chosen, pl.DataFrame]:
    """Bring staged files into a draft.

    Returns:
        Which files come and leave, and the rows of IngestedFiles of those that come.
    """
    chosen = choose(draft, staged)
    files = _admit(draft, staged, chosen.new)
    retired = _retire(draft)
    left = {table: _dismiss(draft, table, chosen.gone) for table in TABLES}

    def last_of(file_ids: pl.Series) -> pl.DataFrame:
        known = _scans.scan(draft.root, draft.parts(IngestedFiles), IngestedFiles)
        rows = pl.concat([known, files.lazy()])
        wanted = rows.filter(pl.col(FILE_ID).is_in(file_ids.implode()))
        return wanted.select(FILE_ID, IngestedFiles.last_ns.name).collect()

    verdicts = Verdicts(draft)
    for table in _RAW:
        settle(draft, table, left[table], last_of, verdicts)
    verdicts.close()
    counted = account(draft, files, together([*retired, *verdicts.counts]))
    return chosen, counted.filter(pl.col(FILE_ID).is_in(sorted(chosen.new)))


def _admit(draft: Draft, staged: Sequence[Staged], new: frozenset[str]) -> pl.DataFrame:
    """Add the parts of new files, each file once; return their rows."""
    tables = {table.sql_name(): table for table in TABLES}
    missing = set(new)
    frames: list[pl.DataFrame] = [IngestedFiles.create_empty()]
    for some in staged:
        coming = missing & set(some.files[FILE_ID])
        missing -= coming
        frames.append(some.files.filter(pl.col(FILE_ID).is_in(sorted(coming))))
        _refuse_lost(draft, some)
        draft.add(some.parts)
        for part in some.parts:
            others = set(part.file_ids) - coming
            draft.take_out_files(tables[part.table], part, others)
    return pl.concat(frames)


def _refuse_lost(draft: Draft, staged: Staged) -> None:
    for part in staged.parts:
        if not (draft.root / part.path).exists():
            message = (
                f"{draft.root / part.path}: staged and gone, deleted by another writer;"
                " lock the lake before staging, and run it again"
            )
            raise LakeError(message)


def _retire(draft: Draft) -> list[pl.DataFrame]:
    """Drop what comes for retired days; return the change of each file's counts."""
    late = list(late_parts(draft, _RAW))
    traced = traced_files(draft) if late else frozenset()
    return [
        change for table, part in late for change in leave(draft, table, part, traced)
    ]


def _dismiss(draft: Draft, table: type[Table], gone: frozenset[str]) -> Gone:
    """Take the rows of files that leave out of a table."""
    left = []
    for part in draft.standing(table, "raw", "duplicate"):
        if not gone.isdisjoint(part.file_ids):
            draft.take_out_files(table, part, gone)
            left += [part] if part.kind == "raw" else []
    return Gone(gone, left)


def account(draft: Draft, files: pl.DataFrame, changes: pl.DataFrame) -> pl.DataFrame:
    """Write the rows of files that are new or changed, and return them."""
    total = changes.group_by(FILE_ID).sum()
    touched = _take_files(draft, total[FILE_ID])
    counted = _add(pl.concat([files, *touched]), total)
    draft.write(IngestedFiles, counted)
    return counted


def _take_files(draft: Draft, file_ids: pl.Series) -> list[pl.DataFrame]:
    wanted = set(file_ids)
    return [
        draft.take_out(IngestedFiles, part, pl.col(FILE_ID).is_in(file_ids.implode()))
        for part in draft.parts(IngestedFiles)
        if not wanted.isdisjoint(part.file_ids)
    ]


def _add(files: pl.DataFrame, changes: pl.DataFrame) -> pl.DataFrame:
    joined = files.join(changes, on=FILE_ID, how="left", suffix="_change")
    return joined.with_columns(
        pl.col(name) + pl.col(f"{name}_change").fill_null(0)
        for name in (ACCEPTED, REJECTED, RETIRED)
    ).select(files.columns)
