"""What was found in a file of nccl-tests: rows, and rows that are refused."""

from typing import Final

from ingest.sources._nccl.tests_console import HEADERLESS
from ingest.sources._nccl.tests_rows import frame_of
from ingest.sources._source import RAW_CHARACTERS, Batch, Reading, Refusal
from ingest.tables import BandwidthTests

#: Rule of a test that has no result.
EMPTY: Final = "rows|required"

_MISMATCH: Final = "bandwidth and time do not agree: part of the row is of another"

_HINTS: Final = {
    EMPTY: "a test began and gave no result",
    HEADERLESS: "no header is above the row to tell what its cells are",
    "algbw_gbs|value": _MISMATCH,
    "busbw_gbs|value": _MISMATCH,
}


class Found:
    """Rows of a batch, in the order of the file."""

    def __init__(self, position: int, refused: list[Refusal]) -> None:
        """Start with what was refused before.

        Args:
            position: Rows of the file before these. [1]
            refused: Lines that are none.
        """
        self._position = position
        self._rows: list[dict[str, object]] = []
        self._refused = refused

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a row nor a refusal."""
        return not self._rows and not self._refused

    def add(self, place: str, row: dict[str, object] | str, raw: str) -> None:
        """Keep a row, or the rule that it breaks."""
        if isinstance(row, str):
            shown = raw[:RAW_CHARACTERS]
            refusal = Refusal(BandwidthTests, place, row, shown, _HINTS.get(row))
            self._refused.append(refusal)
            return
        at = self._position + len(self._rows)
        self._rows.append(row | {"position": at, "place": place})

    def batch(self, reading: Reading, repairs: int) -> Batch:
        """Return all as a batch."""
        time_ns = BandwidthTests.time_ns.name
        return Batch(
            rows={BandwidthTests: frame_of(self._rows, reading)} if self._rows else {},
            refused=tuple(self._refused),
            records=len(self._rows) + len(self._refused),
            repairs=repairs,
            zone_used=any(row[time_ns] is not None for row in self._rows),
        )
