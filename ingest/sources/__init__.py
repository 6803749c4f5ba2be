"""Every raw format, one file each. A new format is a new file and its line here."""

from typing import Final

from ingest.sources._source import Batch, Head, Reading, Refusal, Source

#: Sources in the order they are tried: the most particular first.
SOURCES: Final[tuple[Source, ...]] = ()

__all__ = ["SOURCES", "Batch", "Head", "Reading", "Refusal", "Source"]
