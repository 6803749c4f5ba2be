"""The steps of the main job as plain functions, for the command line and for flows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import polars as pl

from analysis import RESULTS
from ingest import catalog, planning, staging
from ingest.discovery import Found, Options, discover
from ingest.lake import Writer, known_files, open_writer, snapshot
from ingest.staging import Candidate, Staged
from ingest.tables import TABLES, IngestedFiles, Table
from pipeline import analyzing, checking
from pipeline.analyzing import Analyzed
from pipeline.logs import Say
from pipeline.reporting import write_report
from pipeline.settings import Settings

#: Stages batches of files: in this process, or as tasks of a flow.
StageAll = Callable[[Path, Sequence[list[Candidate]]], Iterable[Staged]]

#: Every table of the lake.
EVERY_TABLE: Final[tuple[type[Table], ...]] = (*TABLES, *RESULTS)

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
    """

    known: int
    files: pl.DataFrame = field(default_factory=IngestedFiles.create_empty)
    unreadable: tuple[tuple[str, str], ...] = ()
    assumed_runs: tuple[str, ...] = ()

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
        for run_id in self.assumed_runs:
            yield f"run {run_id!r} is named after its folder; --run-id names it"
        for path, reason in self.unreadable:
            yield f"{path}: not opened: {reason}"
        for row in self.refused.head(REFUSED_SHOWN).iter_rows(named=True):
            yield _refusal(row)
        more = self.refused.height - REFUSED_SHOWN
        if more > 0:
            yield f"and {more} more files: see ingested_files where rows_rejected > 0"

    def _head(self) -> str:
        if self.files.is_empty():
            return f"nothing new: {self.known} files are in the lake already"
        names = ("rows_read", "rows_accepted", "rows_rejected", "rows_retired")
        read, accepted, rejected, retired = (int(self.files[n].sum()) for n in names)
        return (
            f"{self.files.height} new files ({self.known} known):"
            f" {read} rows read = {accepted} accepted + {rejected} rejected"
            f" + {retired} retired"
        )


def _refusal(row: dict[str, object]) -> str:
    path = row["path"]
    if row["source"] == staging.UNRECOGNIZED:
        return f"{path}: refused: no source recognizes it (gpuledger tables --sources)"
    return (
        f"{path}: {row['rows_rejected']} of {row['rows_read']} rows refused:"
        f" see rejected_rows where file_id = '{row['file_id']}'"
    )


def ingest(
    writer: Writer,
    found: Sequence[Found],
    stage_all: StageAll,
    say: Say,
) -> Ingested:
    """Bring files into the lake, a commit for each batch of them.

    Args:
        writer: The lake, locked.
        found: Files that were asked for.
        stage_all: Reads batches of files into parts, side by side where it can.
        say: Told of progress.

    Raises:
        LakeError: If the lake is damaged.
    """
    plan = planning.plan(found, known_files(writer.root))
    say(f"{len(found)} files found, {len(plan.candidates)} of them new")
    batches = list(plan.batches())
    for number, staged in enumerate(stage_all(writer.root, batches), 1):
        writer.commit([staged])
        say(f"batch {number} of {len(batches)} committed")
    if snapshot(writer.root).generation:
        catalog.publish(writer.root, EVERY_TABLE)
    new = [candidate.reading.file_id for candidate in plan.candidates]
    files = known_files(writer.root).filter(IngestedFiles.file_id.col.is_in(new))
    named = IngestedFiles.run_id_basis.col == "folder"
    assumed = files.filter(named)[IngestedFiles.run_id.name].unique().sort()
    return Ingested(
        known=len(plan.known),
        files=files.sort(IngestedFiles.path.name),
        unreadable=plan.unreadable,
        assumed_runs=tuple(assumed),
    )


def stage_in_threads(jobs: int) -> StageAll:
    """Return a way to stage batches in threads of this process.

    Args:
        jobs: Batches that are read at once. Parsing releases the interpreter often
            enough for two threads to be faster than two processes.
    """

    def stage_all(root: Path, batches: Sequence[list[Candidate]]) -> Iterator[Staged]:
        with ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(staging.stage, root, batch) for batch in batches]
            for future in as_completed(futures):
                yield future.result()

    return stage_all


@dataclass(frozen=True, slots=True)
class Order:
    """What a main job is asked for.

    Attributes:
        paths: Files, folders and globs.
        options: What was said for all files.
        report: File to write; `report.html` in the lake where None.
        wait: Whether to wait for another writer of the lake.
    """

    paths: Sequence[Path]
    options: Options
    report: Path | None = None
    wait: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """What a main job did.

    Attributes:
        ingested: What came into the lake.
        analyzed: Which questions were answered anew.
        report: Where the report is.
    """

    ingested: Ingested
    analyzed: Analyzed
    report: str

    def lines(self) -> Iterator[str]:
        """Yield the summary in words."""
        yield from self.ingested.lines()
        yield from self.analyzed.lines()


def analyze(
    writer: Writer,
    settings: Settings,
    *,
    run_id: str | None = None,
    since: str | None = None,
) -> Analyzed:
    """Answer every question whose inputs have changed, and publish the views.

    Raises:
        SettingError: If a threshold or a run is unknown, or a layout is wrong.
    """
    scope = checking.scope_of(snapshot(writer.root), run_id, since)
    done = analyzing.analyze(writer, settings.thresholds, scope)
    catalog.publish(writer.root, EVERY_TABLE)
    return done


def main_job(settings: Settings, order: Order, stage_all: StageAll, say: Say) -> Done:
    """Ingest, analyse and report, under one lock of the lake.

    Raises:
        TelemetryError: If a path, a setting, a run card or the lake cannot be used.
    """
    lake = settings.lake
    found = discover(order.paths, order.options, lake)
    with open_writer(lake, wait=order.wait, grace_s=settings.grace_s) as writer:
        ingested = ingest(writer, found, stage_all, say)
        say("analysing")
        analyzed = analyze(writer, settings)
    say("writing the report")
    path = write_report(lake, settings, order.report)
    return Done(ingested, analyzed, planning.display(path.resolve()))
