"""What nccl-tests write with `-J`: one document for each run.

Of its environment and its arguments nothing is kept but the name of the test.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime

import polars as pl

from ingest.sources._nccl_tests_rows import Cells, Test
from ingest.sources._source import Reading
from ingest.times import naive_to_ns

_HALVES = {"out_of_place": False, "in_place": True}


def test_of(document: Mapping[str, object], reading: Reading) -> Test:
    """Return what a document tells of its test."""
    arguments = document.get("args")
    first = arguments[0] if isinstance(arguments, list) and arguments else None
    test = Test(program=first if isinstance(first, str) else None)
    config = document.get("config")
    if isinstance(config, dict):
        devices = config.get("devices")
        known = [d for d in devices if isinstance(d, dict)] if devices else []
        groups = [device.get("group") for device in known]
        own = sum(group == groups[0] for group in groups)
        each = [config.get("nthreads"), config.get("ngpus")]
        counts = [n for n in each if type(n) is int and 0 < n < 1 << 16]
        if len(counts) == len(each):
            test.ranks = own * counts[0] * counts[1]
        names = (device.get("hostname") for device in known)
        test.hosts = {name: None for name in names if isinstance(name, str) and name}
    test.time_ns = stamp_ns(document.get("start_time"), reading)
    return test


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
