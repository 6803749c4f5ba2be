"""What an ingest did, in words: sums first, refusals by name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from ingest import staging
from ingest.tables import IngestedFiles, RejectedRows

#: Refused files that a summary names; the others are in the lake.
REFUSED_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Ingested:
    """What an ingest did.

    Attributes:
        known: Files that were in the lake already.
        files: Rows of IngestedFiles that came.
        unreadable: Files that could not be opened, and why.
        assumed_runs: Runs named after the folder, since nothing else names them.
        first_faults: By file, the rule that its first refusal breaks, and where.
        empty: Files that hold nothing, known or not. [1]
    """

    known: int
    files: pl.DataFrame = field(default_factory=IngestedFiles.create_empty)
    unreadable: tuple[tuple[str, str], ...] = ()
    assumed_runs: tuple[str, ...] = ()
    first_faults: Mapping[str, str] = field(default_factory=dict)
    empty: int = 0

    @property
    def refused(self) -> pl.DataFrame:
        """Files of which something was refused."""
        return self.files.filter(IngestedFiles.rows_rejected.col > 0)

    @property
    def is_partial(self) -> bool:
        """Whether some of the input was refused."""
        return bool(self.unreadable) or not self.refused.is_empty()

    def lines(self) -> Iterator[str]:
        """Yield the summary in words, refusals by name."""
        yield self._head()
        if self.empty:
            yield f"{self.empty} empty file{'s' * (self.empty > 1)}"
        for run_id in self.assumed_runs:
            yield f"run {run_id!r} is named after its folder; --run-id names it"
        for path, reason in self.unreadable:
            yield f"{path}: not opened: {reason}"
        for row in self.refused.head(REFUSED_SHOWN).iter_rows(named=True):
            yield _refusal(row, self.first_faults.get(row["file_id"], ""))
        more = self.refused.height - REFUSED_SHOWN
        if more > 0:
            yield f"and {more} more files: see ingested_files where rows_rejected > 0"

    def _head(self) -> str:
        if self.files.is_empty():
            if not self.known:
                found = "read" if self.unreadable else "found"
                return f"no files {found}"
            return f"nothing new: {self.known} files are in the lake already"
        names = ("rows_read", "rows_accepted", "rows_rejected", "rows_retired")
        read, accepted, rejected, retired = (int(self.files[n].sum()) for n in names)
        return (
            f"{self.files.height} new files ({self.known} known):"
            f" {read} rows read = {accepted} accepted + {rejected} rejected"
            f" + {retired} retired"
        )


def _refusal(row: dict[str, object], fault: str) -> str:
    path = row["path"]
    if row["source"] == staging.UNRECOGNIZED:
        return f"{path}: refused: no source recognizes it (gpuledger tables --sources)"
    return (
        f"{path}: {row['rows_rejected']} of {row['rows_read']} rows refused, first"
        f" {fault}: see rejected_rows where file_id = '{row['file_id']}'"
    )


def first_faults(rejected: pl.LazyFrame, files: Sequence[str]) -> dict[str, str]:
    """Return the first refusal of each file: the rule, and the place in the file.

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
        .select("file_id", pl.format("{} at {}", "rule", "place"))
    )
    return dict(first.collect().iter_rows())
