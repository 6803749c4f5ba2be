"""`gpuledger ingest`: files into the lake."""

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


def ingest(*paths: Paths, reading: Reading = READING, common: Common = COMMON) -> int:
    """Bring files, folders and globs into the lake.

    Example: gpuledger ingest /var/log/cluster --zone Europe/Berlin

    Args:
        paths: Files, folders and globs.
        reading: How files are read.
        common: What every command takes.
    """
    from ingest.discovery import discover
    from ingest.lake import open_writer
    from pipeline import steps
    from pipeline.unpacking import Unpacking

    settings = settings_of(common, reading)
    options = reading.options(settings)
    found = discover(paths, options, settings.lake)
    unpacking = Unpacking.of(options, settings)
    stage_all = steps.stage_in_threads(settings.jobs)
    with open_writer(
        settings.lake, wait=common.wait, grace_s=settings.grace_s
    ) as writer:
        done = steps.ingest(writer, found, stage_all, common.say, unpacking)
    head, *rest = done.lines()
    answer(head)
    for line in rest:
        common.say(line)
    return PARTIAL if done.is_partial else DONE
