"""`gpuledger report`: one HTML file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ingest.errors import UsageError
from pipeline.commands._shared import COMMON, DONE, Common, answer, settings_of

if TYPE_CHECKING:
    from pipeline.reporting import Written
    from pipeline.settings import Settings


def report(
    *,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    run_id: str | None = None,
    compare: str | None = None,
    claim: str | None = None,
    common: Common = COMMON,
) -> int:
    """Write the report: one HTML file that needs nothing else.

    With --claim, it is about one incident: what a provider is sent to ask for a
    credit.

    Example: gpuledger report -o monday.html

    Args:
        output: File to write; report.html in the lake by default, or claim-ID.html.
        run_id: Run that the report is about; all runs by default.
        compare: What it is compared with: another run, a UTC day (2026-03-01: from then
            on against before), or the folder of another lake; the days before the
            last by default.
        claim: Incident that the page is about, or how only its identity begins.
        common: What every command takes.
    """
    from ingest.known import display

    settings = settings_of(common)
    written = _written(settings, output, claim, (run_id, compare))
    for line in (written.headline, *written.warnings):
        common.say(line)
    answer(display(written.path))
    return DONE


def _written(
    settings: "Settings",
    output: Path | None,
    claim: str | None,
    about: tuple[str | None, str | None],
) -> "Written":
    from pipeline import claiming, reporting

    if claim is None:
        return reporting.write_report(settings.lake, settings, output, *about)
    if about != (None, None):
        message = "--claim: a page about one incident; leave --run-id and --compare out"
        raise UsageError(message)
    return claiming.write_claim(settings.lake, settings, output, claim)
