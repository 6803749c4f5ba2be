"""One process writes at a time; readers are never disturbed."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ingest.errors import LakeLockedError
from ingest.lake import open_writer, snapshot
from ingest.tables import TrainingMetrics
from tests.ingest.tiny import candidate, ingest, put

pytestmark = pytest.mark.thorough

HOLD = """
import sys
from pathlib import Path
from ingest.lake import open_writer
with open_writer(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(root: Path) -> subprocess.Popen[str]:
    """Start a process that holds the lock until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_writer_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    with hold(tmp_path) as process:
        with pytest.raises(LakeLockedError) as caught, open_writer(tmp_path):
            pass
        assert str(caught.value) == (
            f"lake {tmp_path} is locked by process {process.pid};"
            " wait for it, or give --wait"
        )
        assert snapshot(tmp_path).generation == 0
        process.communicate()
    with open_writer(tmp_path):
        pass


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with hold(tmp_path) as process:
        os.kill(process.pid, signal.SIGKILL)
    assert (tmp_path / ".lock").read_text().startswith(f"{process.pid}\n")
    with open_writer(tmp_path):
        pass


def test_a_second_writer_can_wait(tmp_path: Path) -> None:
    with hold(tmp_path) as process:
        end = threading.Timer(0.3, process.communicate)
        end.start()
        with open_writer(tmp_path, wait=True):
            pass
        end.join()


def test_a_second_thread_is_refused_too(tmp_path: Path) -> None:
    with (
        open_writer(tmp_path),
        pytest.raises(LakeLockedError, match=f"process {os.getpid()};"),
        open_writer(tmp_path),
    ):
        pass


def test_the_lock_is_free_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), open_writer(tmp_path):
        raise ZeroDivisionError
    with open_writer(tmp_path):
        pass


WRITE = """
import sys
from pathlib import Path
from ingest.errors import LakeLockedError
from tests.ingest.tiny import candidate, ingest, put
folder, name = Path(sys.argv[1]), sys.argv[2]
locked = 0
for i in range(6):
    log = candidate(put(folder, f"{name}-{i}", [f"m {i} {i} {name}", f"? {name}"]))
    while True:
        try:
            ingest(folder / "lake", [log])
            break
        except LakeLockedError:
            locked += 1
print("locked", locked)
"""


def test_two_writers_and_a_reader_at_once(tmp_path: Path) -> None:
    # GIVEN two processes that bring the same steps, and one that reads all the while
    root = tmp_path / "lake"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, str(tmp_path), name],
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("1", "2")
    ]

    # WHEN
    generations = []
    while any(writer.poll() is None for writer in writers):
        lake = snapshot(root)
        metrics = lake.scan(TrainingMetrics).collect()
        assert metrics.select(TrainingMetrics.key).is_unique().all()
        generations.append(lake.generation)

    # THEN nothing fails, and every step is there once
    for writer in writers:
        out, _ = writer.communicate()
        assert out.startswith("locked")
        assert writer.returncode == 0
    assert generations == sorted(generations)
    assert snapshot(root).generation == 12
    assert snapshot(root).scan(TrainingMetrics).collect().height == 6


def test_a_reader_in_a_thread_is_not_disturbed(tmp_path: Path) -> None:
    root = tmp_path / "lake"
    done = threading.Event()
    failures: list[Exception] = []

    def read() -> None:
        while not done.is_set():
            try:
                snapshot(root).scan(TrainingMetrics).collect()
            except Exception as error:
                failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for i in range(10):
        ingest(root, [candidate(put(tmp_path, f"{i}", [f"m 1 {i} {i}"]))])
    done.set()
    reader.join()
    assert failures == []
