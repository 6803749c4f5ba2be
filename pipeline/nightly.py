"""The nightly flow: the same steps as the command line, watched by Prefect."""

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact
from prefect.logging import get_run_logger

from ingest import staging
from ingest.errors import SettingError
from ingest.staging import Candidate, Staged
from pipeline import steps
from pipeline.scheduling import Night, Parameters, Summary
from pipeline.steps import StageAll

if TYPE_CHECKING:
    from prefect.futures import PrefectFuture

#: Tries of a batch after the first: what fails is mostly a shared file system.
RETRIES: Final = 2

#: Time between tries. [s]
RETRY_DELAY_S: Final = 10

#: Name under which the schedule stands on the server.
DEPLOYMENT: Final = "nightly"


@task(retries=RETRIES, retry_delay_seconds=RETRY_DELAY_S, persist_result=False)
def stage_batch(root: Path, candidates: list[Candidate]) -> Staged:
    """Read a batch of files into parts that nothing names yet."""
    return staging.stage(root, candidates)


def _stage_in_tasks(jobs: int) -> StageAll:
    def stage_all(root: Path, batches: Sequence[list[Candidate]]) -> Iterator[Staged]:
        running: deque[PrefectFuture[Staged]] = deque()
        for batch in batches:
            if len(running) == jobs:
                yield running.popleft().result()
            running.append(stage_batch.submit(root, batch))
        while running:
            yield running.popleft().result()

    return stage_all


@flow(name="nightly", persist_result=False)
def nightly(  # noqa: PLR0913 - a schedule stores plain values
    *,
    inbox: str,
    lake: str,
    run_card: str | None = None,
    run_id: str | None = None,
    zone: str | None = None,
    jobs: int = 2,
    wait: bool = True,
    mappings: list[str] | None = None,
) -> Summary:
    """Bring in what is new, analyse it, write the report and sum the night up.

    Args:
        inbox: Folder where telemetry lands.
        lake: Folder of the lake.
        run_card: Run card for every file, instead of the nearest above each.
        run_id: Run for rows that neither a card nor the data names.
        zone: Zone of naive time stamps where no card gives one.
        jobs: Batches of files that are read at once.
        wait: Whether to wait for another writer of the lake.
        mappings: Mappings for files that no source knows.
    """
    given = tuple(mappings or ())
    night = Night(inbox, lake, run_card, run_id, zone, jobs, wait, given)
    settings = night.settings()
    order = night.order(settings)
    stage_all = _stage_in_tasks(night.jobs)
    done = steps.main_job(settings, order, stage_all, get_run_logger().info)
    summary = Summary.of(done)
    create_markdown_artifact(
        key="nightly-summary", markdown=summary.markdown(), description="The night"
    )
    return summary


def deploy(parameters: Parameters, cron: str) -> None:
    """Serve the flow on a schedule until it is stopped.

    Raises:
        SettingError: If the schedule is none.
    """
    try:
        nightly.serve(name=DEPLOYMENT, cron=cron, parameters=parameters)
    except ValueError as error:
        reason = " ".join(str(error).split())
        message = f"--cron {cron!r}: {reason}; give five fields, as in '0 2 * * *'"
        raise SettingError(message) from error
