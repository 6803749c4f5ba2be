"""What an ingest did, in words: sums first, refusals by name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from ingest.planning import Again
from ingest.tables import IngestedFiles
from pipeline import refusals, rowless
from pipeline.refusals import Fault, files_in_words, first_faults, named

__all__ = ["REFUSED_SHOWN", "Ingested", "first_faults"]

#: Files that were not opened which a summary names.
REFUSED_SHOWN: Final = 20

_ASSUMED: Final = IngestedFiles.zone_basis.col == "assumed"


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
        again: Files that another of the same ingest holds, and so were not read.
        rereads: Files that came before, by what has changed since. [1]
        lost: Runs and clusters of which days are neither raw nor in rollups, in words.
    """

    known: int
    files: pl.DataFrame = field(default_factory=IngestedFiles.create_empty)
    unreadable: tuple[tuple[str, str], ...] = ()
    assumed_runs: tuple[str, ...] = ()
    first_faults: Mapping[str, Fault] = field(default_factory=dict)
    empty: int = 0
    again: tuple[Again, ...] = ()
    rereads: Mapping[str, int] = field(default_factory=dict)
    lost: tuple[str, ...] = ()

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
        yield from self.lost
        yield from self._unread()
        for run_id in self.assumed_runs:
            yield (
                f"run {run_id!r} is named after its folder; --run-id names it; several"
                " runs need a folder with a run.toml each"
            )
        for path, reason in self.unreadable[:REFUSED_SHOWN]:
            yield f"{path}: not opened: {reason}"
        shut = len(self.unreadable) - REFUSED_SHOWN
        if shut > 0:
            yield f"and {shut} more that were not opened"
        yield from refusals.lines(self.refused, self.first_faults)

    def _unread(self) -> Iterator[str]:
        """Yield what was not read, read again, without a row, or in no known zone."""
        if self.again:
            yield _told_again(self.again)
        for why, count in self.rereads.items():
            yield f"{files_in_words(count)} read again: {why}"
        yield from rowless.lines(self.files)
        if assumed := self.files.filter(_ASSUMED).height:
            yield (
                f"UTC assumed for {files_in_words(assumed)} with times without a zone;"
                " --zone or zone in a run card says which"
            )

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


def _told_again(again: Sequence[Again]) -> str:
    copies = sum(one.is_copy for one in again)
    begun = len(again) - copies
    counts = [
        f"{count} {word if count == 1 else words}"
        for count, word, words in (
            (copies, "copy", "copies"),
            (begun, "beginning of another file", "beginnings of other files"),
        )
        if count
    ]
    told = [
        f"{one.path} ({'as' if one.is_copy else 'beginning of'} {one.of})"
        for one in again
    ]
    return f"{' and '.join(counts)} not read again: {named(told)}"
