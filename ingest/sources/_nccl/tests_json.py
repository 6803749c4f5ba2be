"""What nccl-tests write with `-J`: one document for each run.

Of its environment and its arguments nothing is kept but the name of the test.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

import polars as pl

from ingest.sources._nccl.tests_rows import Cells, Test
from ingest.sources._source import Reading
from ingest.times import naive_to_ns

_HALVES: Final = {"out_of_place": False, "in_place": True}

#: Ranks of the largest test: more are no number of ranks. [1]
_MOST_RANKS: Final = 1 << 31


def test_of(document: Mapping[str, object], reading: Reading) -> Test:
    """Return what a document tells of its test."""
    arguments = document.get("args")
    first = arguments[0] if isinstance(arguments, list) and arguments else None
    test = Test(program=first if isinstance(first, str) else None)
    test.time_ns = stamp_ns(document.get("start_time"), reading)
    config = document.get("config")
    if isinstance(config, dict):
        _take_devices(test, config)
    return test


def _take_devices(test: Test, config: Mapping[str, object]) -> None:
    """Take hosts and ranks: a process tells one device of all that it has."""
    listed = config.get("devices")
    devices = listed if isinstance(listed, list) else []
    known = [device for device in devices if isinstance(device, dict)]
    names = (device.get("hostname") for device in known)
    test.hosts = {name: None for name in names if isinstance(name, str) and name}
    own = sum(device.get("group") == known[0].get("group") for device in known)
    threads, gpus = config.get("nthreads"), config.get("ngpus")
    if isinstance(threads, int) and isinstance(gpus, int):
        ranks = own * threads * gpus
        test.ranks = ranks if 0 < ranks < _MOST_RANKS else 0


def stamp_ns(stamp: object, reading: Reading) -> int | None:
    """Return the instant of a local stamp in seconds; None where it is none. [ns]"""
    if not isinstance(stamp, str):
        return None
    try:
        naive = datetime.strptime(stamp.strip(), "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007
    except ValueError:
        return None
    placed = pl.select(naive_to_ns(pl.lit(naive), reading.zone)).item()
    return int(placed) if placed is not None else None


def cells_of(result: object) -> Iterator[Cells]:
    """Yield the halves of a result; none of what is no result."""
    if not isinstance(result, dict):
        return
    for name, in_place in _HALVES.items():
        half = result.get(name)
        if isinstance(half, dict):
            yield Cells(
                size=_text(result.get("size")),
                dtype=_text(result.get("type")) or None,
                reduction=_text(result.get("redop")) or None,
                root=_text(result.get("root")),
                time=_text(half.get("time", half.get("cpu_time"))),
                algbw=_text(half.get("alg_bw")),
                busbw=_text(half.get("bus_bw")),
                wrong=_text(half.get("nwrong")),
                in_place=in_place,
            )


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) else ""
