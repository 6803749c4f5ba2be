"""Days whose raw rows are gone: what was kept of them is all that can be asked."""

from collections.abc import Sequence

from analysis import Frames
from reports._blind_spot import BlindSpot
from reports._section import Scope
from reports._words import plural


def retired(_: Frames, scope: Scope) -> BlindSpot | None:
    """Return the days of which only rollups are left."""
    gone = scope.provenance.retired_days
    if not any(gone.values()):
        return None
    return BlindSpot(
        "Single steps and samples of old days",
        "; ".join(
            f"{table}: {plural(len(days), 'day')} as rollups only ({_range(days)})"
            for table, days in sorted(gone.items())
            if days
        ),
        "a longer keep_raw; what is gone can only be ingested into a new lake",
    )


def _range(days: Sequence[str]) -> str:
    first, last = min(days), max(days)
    return first if first == last else f"{first} to {last}"
