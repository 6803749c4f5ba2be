"""`gpuledger run`: the main job."""

from pathlib import Path

from pipeline.commands._shared import (
    COMMON,
    DONE,
    PARTIAL,
    READING,
    Common,
    Paths,
    Reading,
    answer,
    settings_of,
)


def run(
    *paths: Paths,
    reading: Reading = READING,
    report: Path | None = None,
    common: Common = COMMON,
) -> int:
    """Ingest files, analyse the lake and write the report: the main job.

    Example: gpuledger run telemetry/ --lake lake --report monday.html

    Args:
        paths: Files, folders and globs.
        reading: How files are read.
        report: File to write; report.html in the lake by default.
        common: What every command takes.
    """
    from pipeline import steps
    from pipeline.orders import Order

    settings = settings_of(common, reading)
    order = Order(paths, reading.options(settings), report, common.wait)
    stage_all = steps.stage_in_threads(settings.jobs)
    done = steps.main_job(settings, order, stage_all, common.say)
    for line in (*done.ingested.lines(), *done.analyzed.refused):
        common.say(line)
    for line in (done.headline, *done.warnings):
        common.say(line)
    answer(done.report)
    return PARTIAL if done.is_partial else DONE
