"""What peers' tests expect of traces, answered from the rows that were read of them.

HTA works in whole microseconds: it rounds starts up and ends down, and drops work
without a stream. Where that is all that differs, its figure is worked out the same way
from the exact rows, and must come out to the last digit.
"""

import gzip
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec
import polars as pl

from ingest.tables import Collectives, Kernels, StepTimings
from tests.published.traces import read

#: What answers a row: the trace, and what was found in the name of its metric.
Answer = Callable[[Path, re.Match[str]], object]

#: Category of the overlap table by the class of TraceLens. [ns]
TIMELINE: Final = MappingProxyType(
    {
        "computation_time": "compute_ns",
        "exposed_comm_time": "exposed_communication_ns",
        "exposed_memcpy_time": "exposed_memory_ns",
        "busy_time": "busy_ns",
        "idle_time": "idle_ns",
        "total_time": "span_ns",
        "total_comm_time": "communication_ns",
        "total_memcpy_time": "memory_ns",
    }
)


def kernels(path: Path) -> pl.DataFrame:
    return read(path)[Kernels].sort("event")


class Args(msgspec.Struct, gc=False, frozen=True):
    """What peers look at in the arguments of an event."""

    stream: Any = msgspec.UNSET
    correlation: Any = None


class Event(msgspec.Struct, gc=False):
    """What peers look at in an event. [us]"""

    name: str = ""
    cat: str = ""
    ts: Any = None
    dur: Any = None
    args: Args = Args()


class _Trace(msgspec.Struct):
    traceEvents: list[Event]  # noqa: N815 - as traces spell it


@cache
def events(path: Path) -> list[Event]:
    """Events of a sound trace, decoded apart from the reader."""
    data = path.read_bytes()
    text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    return msgspec.json.decode(text, type=_Trace).traceEvents


@cache
def in_whole_us(path: Path) -> pl.DataFrame:
    """Work with `start` and `end` as HTA rounds them. [us]"""
    told = [
        number
        for number, one in enumerate(events(path))
        if one.args.stream is not msgspec.UNSET
    ]
    start, length = pl.col("start_ns"), pl.col("duration_ns")
    return (
        kernels(path)
        .filter(pl.col("event").is_in(told))
        .with_columns(start=-(-start // 1_000), end=(start + length) // 1_000)
        .with_columns(us=pl.col("end") - pl.col("start"))
    )


def union_us(rows: pl.DataFrame) -> int:
    ordered = rows.sort("start").with_columns(reach=pl.col("end").cum_max().shift(1))
    begins = pl.max_horizontal("start", pl.col("reach").fill_null(0))
    return int(ordered.select((pl.col("end") - begins).clip(0).sum()).item())


def share_in_percent(path: Path, kind: str) -> float:
    rows = in_whole_us(path)
    span = rows.select(pl.col("end").max() - pl.col("start").min()).item()
    busy = union_us(rows)
    compute = union_us(rows.filter(category="compute"))
    parts = {"compute": compute, "idle": span - busy, "non_compute": busy - compute}
    return float(100 * parts[kind] / span)


def sum_us(path: Path, name: str) -> int:
    return int(in_whole_us(path).filter(name=name)["us"].sum())


def sum_us_of(path: Path, category: str) -> int:
    return int(in_whole_us(path).filter(category=category)["us"].sum())


def with_correlation(path: Path, correlation: int) -> dict[str, Any]:
    """The one row of work whose event has a correlation."""
    numbers = [
        number
        for number, one in enumerate(events(path))
        if one.args.correlation == correlation
    ]
    (row,) = kernels(path).filter(pl.col("event").is_in(numbers)).to_dicts()
    return row


def first_step_ns(path: Path) -> object:
    """Start of the first step. [ns]"""
    return read(path)[StepTimings]["start_ns"].min()


#   ---- collectives


def longest(path: Path) -> dict[str, Any]:
    """The row that HTA's test of NCCL's arguments looks at: that of the longest kernel.

    The table calls its message the largest, which it is not.
    """
    return read(path)[Collectives].sort("duration_ns").to_dicts()[-1]


#: Bytes of the elements of the real collectives. [B]
WIDTHS: Final = MappingProxyType({"Float": 4, "BFloat16": 2, "Long": 8})


@cache
def alike(path: Path) -> list[pl.DataFrame]:
    """Collectives that are alike, the longest in total first, as TraceLens sorts."""
    told = read(path)[Collectives].drop_nulls("bytes_total")
    groups = told.partition_by("kind", "bytes_total", "dtype", "group_id")
    return sorted(groups, key=lambda one: -one["duration_ns"].sum())


def of_alike(path: Path, place: int, metric: str) -> object:
    rows = alike(path)[place]
    first = rows.to_dicts()[0]
    us = rows["duration_ns"] / 1_000
    count = first["bytes_total"] / WIDTHS[first["dtype"]]
    megabytes = first["bytes_total"] / 1_024**2
    answers: Mapping[str, object] = {
        "rank": first["rank"],
        "Process Group Name": first["group_id"].partition(":")[0],
        "Group size": first["group_size"],
        "In msg nelems": count,
        "Out msg nelems": count,
        "stream": first["stream"],
        "In msg size (MB)_first": megabytes,
        "Out msg size (MB)_first": megabytes,
        "dur_sum": us.sum(),
        "dur_mean": us.mean(),
        "dur_std": us.std(),
        "dur_min": us.min(),
        "dur_max": us.max(),
        "operation_count": len(rows),
    }
    return answers[metric]


#   ---- steps, whose edges the TensorBoard plugin moves to the end of their work


def of_step(path: Path, step: int, kind: str) -> float:
    """Time of a class of work that a step launched. [us]"""
    rows = kernels(path)
    start, end = pl.col("start_ns"), pl.col("start_ns") + pl.col("duration_ns")
    timed = rows.with_columns(start=start, end=end)
    if read(path)[StepTimings].is_empty():
        until = pl.lit(made_end_ns(path))
        cut = timed.with_columns(end=pl.min_horizontal("end", until))
        launched = cut.filter(pl.col("start") < pl.col("end"))
    else:
        launched = timed.filter(step=step)
    name = pl.col("name")
    of_kind = {
        "Kernel": pl.col("category") == "compute",
        "Memcpy": name.str.starts_with("Memcpy"),
        "Memset": name.str.starts_with("Memset"),
    }
    return union_us(launched.filter(of_kind[kind])) / 1_000


def made_end_ns(path: Path) -> int:
    """End of the step that the plugin makes where there is none. [ns]

    That of the host's last operation, or of the last work whose launch is there.
    """
    hosts = [one for one in events(path) if one.cat in {"cpu_op", "Operator"}]
    linked = kernels(path).filter("linked")
    ends = (linked["start_ns"] + linked["duration_ns"]).to_list()
    return int(max(*(1_000 * (one.ts + one.dur) for one in hosts), *ends))


@cache
def totals(path: Path) -> Mapping[int, float]:
    """Length of each step, its edges on the device. [us]"""
    hosts = _steps(path)
    ends = (
        kernels(path)
        .group_by("step")
        .agg(end=(pl.col("start_ns") + pl.col("duration_ns")).max())
    )
    last = dict(ends.drop_nulls("step").iter_rows())
    found, before = {}, 0
    for step, (start, host_end) in sorted(hosts.items()):
        end = max(host_end, last.get(step, 0))
        found[step] = (end - max(start, before)) / 1_000
        before = end
    return MappingProxyType(found)


def _steps(path: Path) -> dict[int, tuple[int, int]]:
    """Start and end of each step on the host. [ns]"""
    rows = read(path)[StepTimings]
    told = rows.select("step", "start_ns", "duration_ns").iter_rows()
    return {step: (start, start + length) for step, start, length in told}


def utilization(path: Path) -> float:
    kernel = sum(of_step(path, step, "Kernel") for step in totals(path))
    return 100 * kernel / sum(totals(path).values())
