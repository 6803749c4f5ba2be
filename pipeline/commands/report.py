"""`gpuledger report`: one HTML file."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pipeline.commands._shared import COMMON, DONE, Common, answer, settings_of


def report(
    *,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    run_id: str | None = None,
    common: Common = COMMON,
) -> int:
    """Write the report: one HTML file that needs nothing else.

    Example: gpuledger report -o monday.html

    Args:
        output: File to write; report.html in the lake by default.
        run_id: Run that the report is about; all runs by default.
        common: What every command takes.
    """
    from ingest.known import display
    from pipeline.reporting import write_report

    settings = settings_of(common)
    written = write_report(settings.lake, settings, output, run_id)
    for line in (written.headline, *written.warnings):
        common.say(line)
    answer(display(written.path))
    return DONE
