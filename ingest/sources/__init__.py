"""Every raw format, one file each. A new format is a new file and its line here."""

from typing import Final

from ingest.sources import host_map, run_card
from ingest.sources._source import Batch, Head, Reading, Refusal, Source

#: Sources in the order they are tried: the most particular first.
SOURCES: Final[tuple[Source, ...]] = (
    run_card.SOURCE,
    host_map.SOURCE,
)

__all__ = ["SOURCES", "Batch", "Head", "Reading", "Refusal", "Source"]
