"""How far an ingest has come, in one plain line for each commit."""

from collections.abc import Iterable
from time import monotonic
from typing import Final

from ingest.staging import Candidate, Staged
from ingest.tables import IngestedFiles

#: Units of size, from the largest that a value reaches. [B]
_UNITS: Final = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


class Progress:
    """Counts what has been committed of the files of an ingest."""

    def __init__(self, candidates: Iterable[Candidate], now_s: float | None = None):
        """Start with nothing done.

        Args:
            candidates: All files of the ingest.
            now_s: When it begins, on the clock that does not jump; now if None. [s]
        """
        self._sizes = {c.reading.file_id: c.size for c in candidates}
        self._began_s = monotonic() if now_s is None else now_s
        self._files = 0
        self._bytes = 0
        self._rows = 0

    def after(self, staged: Staged, now_s: float | None = None) -> str:
        """Count files that have been committed, and tell how far the ingest is.

        The time left is what the rest takes at the mean rate of bytes so far; where
        no file has a byte, of files.

        Args:
            staged: What was committed.
            now_s: When, as for the beginning; now if None. [s]
        """
        took_s = (monotonic() if now_s is None else now_s) - self._began_s
        self._files += len(staged.supersedes)
        self._bytes += sum(self._sizes[file_id] for file_id in staged.supersedes)
        self._rows += int(staged.files[IngestedFiles.rows_accepted.name].sum())
        total = sum(self._sizes.values())
        done = self._bytes / total if total else self._files / len(self._sizes)
        line = (
            f"{self._files:,} of {len(self._sizes):,} files,"
            f" {_size(self._bytes)} of {_size(total)} committed"
        )
        if took_s > 0:
            line += f", {self._rows / took_s:,.0f} rows/s"
        if 0 < done < 1:
            line += f", about {_duration(took_s * (1 - done) / done)} left"
        return line


def _size(count: int) -> str:
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count} B"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
