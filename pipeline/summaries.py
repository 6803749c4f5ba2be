"""What an ingest did, in words: sums first, refusals by name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from ingest.tables import IngestedFiles
from pipeline import refusals
from pipeline.refusals import Fault, first_faults

__all__ = ["REFUSED_SHOWN", "Ingested", "first_faults"]

#: Files that were not opened which a summary names.
REFUSED_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Ingested:
    """What an ingest did.

    Attributes:
        known: Files that were in the lake already.
        files: Rows of IngestedFiles that came.
        unreadable: Files that could not be opened, and why.
        assumed_runs: Runs named after the folder, since nothing else names them.
        first_faults: By file, its first refusal.
        empty: Files that hold nothing, known or not. [1]
    """

    known: int
    files: pl.DataFrame = field(default_factory=IngestedFiles.create_empty)
    unreadable: tuple[tuple[str, str], ...] = ()
    assumed_runs: tuple[str, ...] = ()
    first_faults: Mapping[str, Fault] = field(default_factory=dict)
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
        for path, reason in self.unreadable[:REFUSED_SHOWN]:
            yield f"{path}: not opened: {reason}"
        shut = len(self.unreadable) - REFUSED_SHOWN
        if shut > 0:
            yield f"and {shut} more that were not opened"
        yield from refusals.lines(self.refused, self.first_faults)

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
