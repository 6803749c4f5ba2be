"""A night's work: what it takes, run plainly, as a Prefect flow, or on a schedule."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from ingest.errors import SettingError, TelemetryError
from pipeline import settings as settings_
from pipeline.commands._shared import Reading
from pipeline.logs import Say, one_line
from pipeline.settings import Settings

if TYPE_CHECKING:
    from pipeline.orders import Done, Order

#: Files of a night's summary, beside the report.
SUMMARY_NAME: Final = "nightly.md"

#: How long a server may take to say that it is there. [s]
ANSWER_S: Final = 30.0

#: What Prefect is told before it is imported: no calls out of this machine, and
#: batches with which SQLite keeps up with the events of a night's tasks.
PREFECT_SETTINGS: Final[Mapping[str, str]] = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "500",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_READ_BATCH_SIZE": "200",
}


#: Plain values, as a schedule stores them.
Parameters = dict[str, str | int | bool | list[str] | None]


@dataclass(frozen=True, slots=True)
class Night:
    """What a night needs to know, as plain values that a schedule can store."""

    inbox: str
    lake: str
    run_card: str | None
    run_id: str | None
    zone: str | None
    jobs: int
    wait: bool
    mappings: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, inbox: Path, settings: Settings, reading: Reading, *, wait: bool
    ) -> Self:
        """Describe a night over an inbox.

        Raises:
            TelemetryError: If the inbox is no folder.
        """
        if not inbox.is_dir():
            message = f"{inbox}: no such folder; nightly takes the folder of an inbox"
            raise TelemetryError(message)
        return cls(
            inbox=str(inbox.resolve()),
            lake=str(settings.lake.resolve()),
            run_card=str(reading.run.resolve()) if reading.run else None,
            run_id=reading.run_id,
            zone=settings.zone,
            jobs=settings.jobs,
            wait=wait,
            mappings=tuple(str(path.resolve()) for path in settings.mapping),
        )

    def settings(self) -> Settings:
        """Return the settings of the place where the night runs."""
        return settings_.load(
            lake=Path(self.lake),
            zone=self.zone,
            jobs=self.jobs,
            mapping=tuple(map(Path, self.mappings)),
        )

    def order(self, settings: Settings) -> "Order":
        """Return the main job that the night is."""
        from pipeline.orders import Order

        card = Path(self.run_card) if self.run_card else None
        options = Reading(run=card, run_id=self.run_id).options(settings)
        return Order([Path(self.inbox)], options, wait=self.wait, compacts=True)

    def parameters(self) -> Parameters:
        """Return the night as the parameters of a flow."""
        return {**asdict(self), "mappings": list(self.mappings)}


@dataclass(frozen=True, slots=True)
class Summary:
    """What a night did, in words."""

    lines: tuple[str, ...]
    report: str
    is_partial: bool

    @classmethod
    def of(cls, done: "Done") -> Self:
        """Sum up a main job."""
        lines = tuple(one_line(line) for line in done.lines())
        return cls(lines, done.report, done.is_partial)

    def markdown(self) -> str:
        """Return the summary as Markdown in which no name is markup."""
        items = "".join(f"- {_literal(line)}\n" for line in self.lines)
        return f"# Night\n\n{items}\nReport: {_literal(self.report)}\n"


def _literal(text: str) -> str:
    # a code span shows what it holds; its fence is longer than any run inside
    longest = max((len(run) for run in text.split() if set(run) == {"`"}), default=0)
    fence = "`" * (max(longest, text.count("`")) + 1)
    return f"{fence} {text} {fence}"


def run_plainly(night: Night, say: Say) -> Summary:
    """Run a night without Prefect and write its summary beside the report."""
    from pipeline import steps

    settings = night.settings()
    stage_all = steps.stage_in_threads(settings.jobs)
    done = steps.main_job(settings, night.order(settings), stage_all, say)
    summary = Summary.of(done)
    path = Path(done.report).with_name(SUMMARY_NAME)
    path.write_text(summary.markdown(), encoding="utf-8")
    return summary


def run_flow(night: Night) -> Summary:
    """Run a night as a flow under the server at PREFECT_API_URL."""
    prepare_prefect()
    from pipeline.nightly import nightly

    return nightly(
        inbox=night.inbox,
        lake=night.lake,
        run_card=night.run_card,
        run_id=night.run_id,
        zone=night.zone,
        jobs=night.jobs,
        wait=night.wait,
        mappings=list(night.mappings),
    )


def serve(night: Night, cron: str, say: Say) -> None:
    """Serve the flow on a schedule until it is stopped.

    Raises:
        SettingError: If no server is named, or the schedule is none.
    """
    if not os.environ.get("PREFECT_API_URL"):
        message = (
            "PREFECT_API_URL: no Prefect server; start one with `prefect server start`"
            " and set it, as in http://127.0.0.1:4200/api"
        )
        raise SettingError(message)
    prepare_prefect()
    from pipeline.nightly import deploy

    say(f"serving nightly over {night.inbox} on {cron!r}; Ctrl-C stops it")
    deploy(night.parameters(), cron)


def prepare_prefect() -> None:
    """Set what Prefect reads when it is imported, where nobody has.

    Raises:
        SettingError: If no Prefect server answers at PREFECT_API_URL.
    """
    for name, value in PREFECT_SETTINGS.items():
        os.environ.setdefault(name, value)
    import httpx

    url = os.environ["PREFECT_API_URL"]
    try:
        httpx.get(f"{url}/health", timeout=ANSWER_S).raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = one_line(str(error))
        message = (
            f"PREFECT_API_URL: no Prefect server answers at {url} ({reason});"
            " start it, or unset the variable to run without Prefect"
        )
        raise SettingError(message) from error
