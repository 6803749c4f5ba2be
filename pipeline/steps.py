"""The steps of the main job as plain functions, for the command line and for flows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

from ingest import planning, staging
from ingest.archives import unpacked
from ingest.discovery import Found, discover
from ingest.known import display
from ingest.lake import Writer, known_files, open_writer, snapshot
from ingest.staging import Candidate, Staged
from ingest.tables import IngestedFiles, RejectedRows
from pipeline import analyzing, checking
from pipeline._late import Lost
from pipeline._memory import trim
from pipeline._owners import ByDay
from pipeline.analyzing import Analyzed
from pipeline.compacting import compact, days_of
from pipeline.logs import Say, silence
from pipeline.orders import Done, Order
from pipeline.progress import Progress
from pipeline.publishing import LONG_ROWS, publish
from pipeline.reporting import write_report
from pipeline.rereading import why_again
from pipeline.settings import Settings
from pipeline.summaries import Ingested, first_faults
from pipeline.unpacking import UNPACKING, Unpacking

#: Stages batches of files: in this process, or as tasks of a flow.
StageAll = Callable[[Path, Sequence[list[Candidate]]], Iterable[Staged]]


def ingest(
    writer: Writer,
    found: Sequence[Found],
    stage_all: StageAll,
    say: Say,
    unpacking: Unpacking = UNPACKING,
) -> Ingested:
    """Bring files into the lake, and publish the views.

    Args:
        writer: The lake, locked.
        found: Files that were asked for.
        stage_all: Reads batches of files into parts, side by side where it can.
        say: Told of progress.
        unpacking: How archives among them are unpacked.

    Raises:
        LakeError: If the lake is damaged.
        SettingError: If a run card in an archive cannot be used.
    """
    done = _bring(writer, found, stage_all, say, unpacking)
    publish(writer.root)
    return done


def _bring(
    writer: Writer,
    found: Sequence[Found],
    stage_all: StageAll,
    say: Say,
    unpacking: Unpacking,
) -> Ingested:
    options, limits = unpacking.options, unpacking.limits
    with unpacked(found, options, writer.root, limits) as inside:
        done = _ingest(writer, inside.found, stage_all, say)
    return replace(done, unreadable=(*done.unreadable, *inside.unread))


def _ingest(
    writer: Writer, found: Sequence[Found], stage_all: StageAll, say: Say
) -> Ingested:
    before = known_files(writer.root)
    plan = planning.plan(found, before)
    say(f"{len(found)} files found, {len(plan.candidates)} of them new")
    batches = list(plan.batches())
    progress, lost, lake = Progress(plan.candidates), Lost(), snapshot(writer.root)
    for staged in stage_all(writer.root, batches):
        lost.see(lake, staged.parts)
        writer.commit([staged])
        trim()
        say(progress.after(staged))
    new = [candidate.reading.file_id for candidate in plan.candidates]
    files = known_files(writer.root).filter(IngestedFiles.file_id.col.is_in(new))
    named = IngestedFiles.run_id_basis.col == "folder"
    has_rows = IngestedFiles.rows_read.col > 0
    assumed = files.filter(named & has_rows)[IngestedFiles.run_id.name].unique().sort()
    return Ingested(
        known=len(plan.known) - len(plan.again),
        files=files.sort(IngestedFiles.path.name),
        unreadable=plan.unreadable,
        assumed_runs=tuple(assumed),
        first_faults=first_faults(snapshot(writer.root).scan(RejectedRows), new),
        empty=plan.empty,
        again=plan.again,
        rereads=why_again(before, files, plan.candidates),
        lost=tuple(lost.lines()),
    )


def stage_in_threads(jobs: int) -> StageAll:
    """Return a way to stage batches in threads of this process.

    Args:
        jobs: Batches that are read at once. Parsing releases the interpreter often
            enough for two threads to be faster than two processes.
    """

    def stage_all(root: Path, batches: Sequence[list[Candidate]]) -> Iterator[Staged]:
        with ThreadPoolExecutor(jobs) as pool:
            # nothing but the pool keeps what was read: it is free when committed
            waiting = {pool.submit(staging.stage, root, batch) for batch in batches}
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                while done:
                    yield done.pop().result()

    return stage_all


def analyze(
    writer: Writer,
    settings: Settings,
    *,
    run_id: str | None = None,
    since: str | None = None,
    say: Say = silence,
) -> Analyzed:
    """Answer every question whose inputs have changed, and publish the views.

    Raises:
        SettingError: If a threshold or a run is unknown.
    """
    scope = checking.scope_of(snapshot(writer.root), run_id, since)
    by_day = ByDay(settings.by_day_rows, say=say, jobs=settings.jobs)
    done = analyzing.analyze(writer, settings.thresholds, scope, by_day=by_day)
    publish(writer.root)
    return done


def main_job(settings: Settings, order: Order, stage_all: StageAll, say: Say) -> Done:
    """Ingest, analyse and report, under one lock of the lake.

    Raises:
        TelemetryError: If a path, a setting, a run card or the lake cannot be used.
    """
    lake = settings.lake
    analyzing.refuse_unknown(settings.thresholds)
    if settings.keep_raw is not None:
        days_of(settings.keep_raw)
    found = discover(order.paths, order.options, lake)
    with open_writer(lake, wait=order.wait, grace_s=settings.grace_s) as writer:
        unpacking = Unpacking.of(order.options, settings)
        ingested = _bring(writer, found, stage_all, say, unpacking)
        publish(lake, LONG_ROWS)
        say("analysing")
        analyzed = analyze(writer, settings, say=say)
        compacts = order.compacts and settings.keep_raw is not None
        compacted = compact(writer, settings, say) if compacts else None
    say("writing the report")
    written = write_report(lake, settings, order.report)
    path = display(written.path)
    told = (written.headline, written.warnings)
    return Done(ingested, analyzed, path, *told, compacted)
