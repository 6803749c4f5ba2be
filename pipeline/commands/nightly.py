"""`gpuledger nightly`: the main job once, or on a schedule under Prefect."""

import os
from pathlib import Path

from ingest.errors import UsageError
from pipeline.commands._shared import (
    COMMON,
    DONE,
    PARTIAL,
    READING,
    Common,
    Reading,
    Switch,
    answer,
    settings_of,
)


def nightly(
    inbox: Path,
    *,
    once: Switch = False,
    cron: str | None = None,
    reading: Reading = READING,
    common: Common = COMMON,
) -> int:
    """Bring in what is new, analyse it and write the report: now, or on a schedule.

    Example: gpuledger nightly inbox/ --cron "0 2 * * *"

    Args:
        inbox: Folder where telemetry lands.
        once: Run now and stop; the default. A Prefect flow where PREFECT_API_URL is
            set, the same steps without Prefect elsewhere.
        cron: Serve the flow on this schedule under the server at PREFECT_API_URL.
        reading: How files are read.
        common: What every command takes.
    """
    from pipeline import scheduling

    if once and cron is not None:
        message = "--once and --cron: give one of the two"
        raise UsageError(message)
    settings = settings_of(common, reading)
    night = scheduling.Night.of(inbox, settings, reading, wait=common.wait)
    if cron is not None:
        scheduling.serve(night, cron, common.say)
        return DONE
    if os.environ.get("PREFECT_API_URL"):
        summary = scheduling.run_flow(night)
    else:
        summary = scheduling.run_plainly(night, common.say)
    for line in summary.lines:
        common.say(line)
    answer(summary.report)
    return PARTIAL if summary.is_partial else DONE
