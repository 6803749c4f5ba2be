"""What a main job is asked for, and what it did."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.discovery import Options
from pipeline.analyzing import Analyzed
from pipeline.compacting import Compacted
from pipeline.summaries import Ingested


@dataclass(frozen=True, slots=True)
class Order:
    """What a main job is asked for.

    Attributes:
        paths: Files, folders and globs.
        options: What was said for all files.
        report: File to write; `report.html` in the lake where None.
        wait: Whether to wait for another writer of the lake.
        compacts: Whether the lake is compacted, where `keep_raw` is set.
    """

    paths: Sequence[Path]
    options: Options
    report: Path | None = None
    wait: bool = False
    compacts: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """What a main job did.

    Attributes:
        ingested: What came into the lake.
        analyzed: Which questions were answered anew.
        report: Where the report is.
        headline: The sentence that it opens with.
        warnings: What makes that sentence doubtful.
        compacted: What became of old days and small parts; None where nothing was to.
    """

    ingested: Ingested
    analyzed: Analyzed
    report: str
    headline: str
    warnings: tuple[str, ...] = ()
    compacted: Compacted | None = None

    @property
    def is_partial(self) -> bool:
        """Whether some of the input was refused."""
        return self.ingested.is_partial or bool(self.analyzed.refused)

    def lines(self) -> Iterator[str]:
        """Yield the summary in words."""
        yield self.headline
        yield from self.warnings
        yield from self.ingested.lines()
        yield from self.analyzed.lines()
        if self.compacted:
            yield from self.compacted.lines()
