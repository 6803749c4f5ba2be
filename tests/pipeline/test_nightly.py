"""A night: plainly without a server, and as a flow under one."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from pipeline.scheduling import PREFECT_SETTINGS, SUMMARY_NAME, Summary

pytestmark = pytest.mark.thorough

#: How long a server or a flow may take before the test gives up. [s]
PATIENCE_S = 120


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    """An inbox with a small step log."""
    folder = tmp_path / "inbox"
    folder.mkdir()
    rows = "".join(
        f"{step},{rank},{1_700_000_000 * 10**9 + step * 10**9},900000000\n"
        for step in range(3)
        for rank in range(4)
    )
    (folder / "steps.csv").write_text(f"step,rank,start_ns,duration_ns\n{rows}")
    return folder


def clean_environment(**more: str) -> dict[str, str]:
    """This environment without what other tests or people set for us."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GPULED", "PREF"))}
    return kept | more


def gpuledger(*tokens: str) -> list[str]:
    """The command that runs gpuledger with this interpreter."""
    return [sys.executable, "-c", "from pipeline.cli import main; main()", *tokens]


def test_once_needs_no_server(inbox: Path, tmp_path: Path) -> None:
    # GIVEN no PREFECT_API_URL and a Prefect home that nothing may be written to
    home = tmp_path / "prefect"
    # WHEN the night runs once
    done = subprocess.run(
        gpuledger("nightly", str(inbox), "--once", "--lake", str(tmp_path / "lake")),
        env=clean_environment(PREFECT_HOME=str(home)),
        capture_output=True,
        text=True,
        check=False,
    )
    # THEN it answers with the report, sums up beside it, and never woke Prefect
    assert done.returncode == 0, done.stderr
    report = Path(done.stdout.strip())
    assert report.is_file()
    summary = report.with_name(SUMMARY_NAME).read_text()
    assert "1 new files (0 known): 12 rows read = 12 accepted" in summary
    assert str(report) in summary
    assert not home.exists()


def test_cron_without_a_server_says_what_to_do(inbox: Path) -> None:
    done = subprocess.run(
        gpuledger("nightly", str(inbox), "--cron", "0 2 * * *"),
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("gpuledger: PREFECT_API_URL: no Prefect server")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("how", [["--once"], ["--cron", "0 2 * * *"]])
def test_a_server_that_does_not_answer_is_one_line(
    inbox: Path, tmp_path: Path, how: list[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refuses at once
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/api"
        done = subprocess.run(
            gpuledger("nightly", str(inbox), *how, "--lake", str(tmp_path / "lake")),
            env=clean_environment(PREFECT_API_URL=url),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("gpuledger: PREFECT_API_URL: no Prefect server")
    assert url in done.stderr
    assert done.stderr.count("\n") == 1


def test_names_in_a_summary_are_no_markup() -> None:
    line = "/inbox/``x`` [a](javascript:1) <b>: refused"
    text = Summary((line,), "/r`", is_partial=True).markdown()
    fence = "`" * 5
    assert f"- {fence} {line} {fence}\n" in text


@pytest.fixture
def server(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A Prefect server of our own on the loopback, and the variables that name it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = clean_environment(
        PREFECT_HOME=str(tmp_path / "prefect"),
        PREFECT_API_URL=f"http://127.0.0.1:{port}/api",
        **PREFECT_SETTINGS,
    )
    command = ["prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(lambda: answers(f"http://127.0.0.1:{port}/api/health"))
        yield environment
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE_S)


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def wait_for(is_so: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, "gave up waiting"
        time.sleep(0.5)


def ask(environment: dict[str, str], what: str) -> list[dict[str, object]]:
    """Ask the server for all it has of something."""
    url = f"{environment['PREFECT_API_URL']}/{what}/filter"
    found = httpx.post(url, json={}, timeout=30).raise_for_status().json()
    assert isinstance(found, list)
    return found


@pytest.mark.slow
def test_served_on_a_schedule_and_triggered_once(
    inbox: Path, tmp_path: Path, server: dict[str, str]
) -> None:
    # GIVEN the flow served on a schedule
    lake = str(tmp_path / "lake")
    serving = subprocess.Popen(
        gpuledger("nightly", str(inbox), "--cron", "0 2 * * *", "--lake", lake),
        env=server,
        start_new_session=True,
    )
    try:
        wait_for(lambda: ask(server, "deployments"))
        (deployment,) = ask(server, "deployments")
        # WHEN it is triggered once
        url = f"{server['PREFECT_API_URL']}/deployments/{deployment['id']}"
        httpx.post(f"{url}/create_flow_run", json={}, timeout=30).raise_for_status()
        wait_for(lambda: finished(server))
    finally:
        os.killpg(serving.pid, signal.SIGINT)
        serving.wait(PATIENCE_S)
    # THEN it completes, each batch was a task, and the artifact tells of the night
    manual = [r for r in ask(server, "flow_runs") if not r["auto_scheduled"]]
    assert [run["state_type"] for run in manual] == ["COMPLETED"]
    assert [task["state_type"] for task in ask(server, "task_runs")] == ["COMPLETED"]
    (artifact,) = ask(server, "artifacts")
    assert artifact["key"] == "nightly-summary"
    assert "12 rows read = 12 accepted" in str(artifact["data"])
    assert (tmp_path / "lake" / "report.html").is_file()


def finished(environment: dict[str, str]) -> bool:
    """Whether a triggered run has come to an end."""
    ends = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}
    runs = ask(environment, "flow_runs")
    return any(run["state_type"] in ends for run in runs if not run["auto_scheduled"])


@pytest.mark.slow
def test_once_under_a_server_is_a_flow(
    inbox: Path, tmp_path: Path, server: dict[str, str]
) -> None:
    shutil.copy(inbox / "steps.csv", inbox / "again.csv")
    done = subprocess.run(
        gpuledger("nightly", str(inbox), "--once", "--lake", str(tmp_path / "lake")),
        env=server,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_file()
    assert [run["state_type"] for run in ask(server, "flow_runs")] == ["COMPLETED"]
