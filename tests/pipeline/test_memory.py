"""What a day leaves behind is given back before the next one."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from pipeline._memory import SETTING

#: Makes many small frames, frees them, and tells memory before, with them, and after.
_FRAMES: Final = """
import time
import pipeline
import polars as pl

def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])

before = held()
rows = pl.LazyFrame({"a": pl.select(pl.int_range(100_000)).to_series()})
frames = pl.collect_all([rows.with_columns(b=pl.col("a") + n) for n in range(500)])
most = held()
del frames
deadline = time.monotonic() + 60
while held() - before > (most - before) / 4 and time.monotonic() < deadline:
    time.sleep(0.1)
print(before, most, held())
"""

#: Has threads allocate at the same time, and tells how many heaps glibc has.
_HEAPS: Final = """
import ctypes, sys, threading
import pipeline

libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
barrier = threading.Barrier(64)

def allocate():
    barrier.wait()
    for _ in range(20):
        libc.malloc(100_000)
    barrier.wait()

threads = [threading.Thread(target=allocate) for _ in range(64)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
file = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
print(open(sys.argv[1]).read().count("<heap nr="))
"""


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="no /proc that tells memory"
)
def test_freed_memory_is_given_back() -> None:
    before, most, after = map(int, told(_FRAMES).split())
    assert after - before <= (most - before) / 4


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_info"), reason="not of glibc"
)
def test_threads_share_few_heaps(tmp_path: Path) -> None:
    path = str(tmp_path / "heaps.xml")
    cores = os.cpu_count() or 1
    assert int(told(_HEAPS, path)) <= cores
    left_alone = _HEAPS.replace("import pipeline\n", "")
    assert int(told(left_alone, path)) > cores


def test_what_a_user_set_stays() -> None:
    program = f"import os, pipeline; print(os.environ[{SETTING!r}])"
    assert told(program, **{SETTING: "narenas:3"}).strip() == "narenas:3"


def told(program: str, *arguments: str, **environment: str) -> str:
    """What a program of its own process prints."""
    others = {name: value for name, value in os.environ.items() if name != SETTING}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=others | environment,
    ).stdout
