"""Why files are read again whose content is in the lake already."""

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from ingest.mapping import PREFIX
from ingest.staging import Candidate
from ingest.tables import IngestedFiles as Files

_OLD: Final = "_old"

_COLUMNS: Final = ("source", "reader_version", "run_id", "run_id_basis", "zone")


def why_again(
    before: pl.DataFrame, files: pl.DataFrame, candidates: Sequence[Candidate]
) -> Mapping[str, int]:
    """Return how many files were read again, by what has changed since.

    Args:
        before: Rows of IngestedFiles before the ingest.
        files: Those that came.
        candidates: What was read.
    """
    pairs = [(c.reading.file_id, old) for c in candidates for old in c.supersedes]
    if not pairs:
        return {}
    both = (
        pl.DataFrame(pairs, schema=["file_id", "old_id"], orient="row")
        .join(files.select("file_id", "sha256", *_COLUMNS), on="file_id")
        .join(
            before.select("sha256", *_COLUMNS, old_id="file_id"),
            on=["old_id", "sha256"],
            suffix=_OLD,
        )
        .unique("file_id")
        .with_columns(why=_why())
    )
    counts = both.group_by("why").len().sort("why")
    return dict(counts.iter_rows())


def _why() -> pl.Expr:
    is_mapped = Files.source.col.str.starts_with(PREFIX)
    changes = (
        (_differs("source"), "another source claims them"),
        (_differs("reader_version"), "a newer version reads them"),
        (_differs("run_id") | _differs("run_id_basis"), "run or run card changed"),
        (_differs("zone"), "zone changed"),
        (is_mapped, "mapping changed"),
    )
    told = [pl.when(changed).then(pl.lit(why)) for changed, why in changes]
    return pl.coalesce(*told, pl.lit("options changed"))


def _differs(name: str) -> pl.Expr:
    return pl.col(name).ne_missing(pl.col(f"{name}{_OLD}"))
