"""Reasons why figures of peers are not answered, each held against its trace."""

import gzip
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl
import pytest

from analysis.intervals import difference, intersection, lengths
from ingest.tables import Kernels
from tests.published.kineto_answers import REASONS, Reason, reason_of
from tests.published.kineto_peers import Event, events, kernels, made_end_ns
from tests.published.kineto_rows import ABSOLUTE, every_row, measured
from tests.published.traces import read

WORK: Final = ("kernel", "gpu_memcpy", "gpu_memset")


def test_a_rank_that_is_not_told_is_null(shared: Path) -> None:
    # HTA: 0, with a warning
    for name in ("rank_not_found", "distributed_info_not_found"):
        (path,) = (shared / "data" / "kineto").rglob(f"{name}.json.gz")
        assert set(read(path)[Kernels]["rank"]) <= {None}


def test_a_trace_without_work_has_no_rows(shared: Path) -> None:
    # HTA: no queues and no bandwidth
    (path,) = (shared / "data" / "kineto").rglob("rank_non_gpu.json.gz")
    assert read(path)[Kernels].is_empty()


def test_the_steps_that_the_plugin_makes_are_the_ranges_of_the_host(
    shared: Path,
) -> None:
    # from the host's first operation to its last, or to work that it launched
    for name, expected in (("test_no_profilerstep", 320), ("distributed_nccl", 235)):
        (path,) = (shared / "data" / "kineto").rglob(f"*{name}*")
        hosts = [e.ts for e in events(path) if e.cat in {"cpu_op", "Operator"}]
        assert made_end_ns(path) / 1_000 - min(hosts) == expected


def test_what_the_plugin_takes_for_communication_is_of_the_host(shared: Path) -> None:
    # host    nccl:broadcast 0 to 75, nccl:all_reduce 160 to 235, where its step ends
    # device  compute 130 to 291; the kernels of NCCL, 16 to 32 and 162 to 1718, are not
    #         looked at. Expected: 30 compute alone, 75 both, 75 communication alone
    (path,) = (shared / "data" / "kineto").rglob("*distributed_nccl*")
    hosts = ranges(e for e in events(path) if e.name.startswith("nccl:"))
    step = pl.LazyFrame({"g": [0], "start_ns": [0], "end_ns": [235_000]})
    compute = intersection(
        ranges(e for e in events(path) if e.name.startswith("void at::")), step, ["g"]
    )
    found = [
        lengths(answer, ["g"]).collect()["length_ns"].item() / 1_000
        for answer in (
            difference(compute, hosts, ["g"]),
            intersection(compute, hosts, ["g"]),
            difference(hosts, compute, ["g"]),
        )
    ]
    assert found == [30, 75, 75]


def ranges(found: Iterable[Event]) -> pl.LazyFrame:
    """Events as intervals of one group. [ns]"""
    rows = [(0, 1_000 * e.ts, 1_000 * (e.ts + e.dur)) for e in found]
    return pl.LazyFrame(rows, schema=["g", "start_ns", "end_ns"], orient="row")


class Exact(msgspec.Struct, gc=False):
    """Times of an event, to the last digit that is written. [us]"""

    cat: str = ""
    ts: Decimal = Decimal(0)
    dur: Decimal = Decimal(0)


class ExactTrace(msgspec.Struct):
    traceEvents: list[Exact]  # noqa: N815 - as traces spell it


def test_the_two_values_by_floats_are_wrong_by_their_rounding(shared: Path) -> None:
    # the same difference of the same numbers, as text and as floats
    path = shared / "data" / ABSOLUTE
    text = gzip.decompress(path.read_bytes())
    told = msgspec.json.decode(text, type=ExactTrace).traceEvents
    work = [(one.ts, one.dur) for one in told if one.cat in WORK]

    def span(number: Callable[[Any], Any]) -> int:
        first = min(number(start) for start, _ in work)
        ends = (number(start) - first + number(length) for start, length in work)
        length: int = round(max(ends) * 1_000)
        return length

    assert span(Decimal) == measured(path)["span_ns"] == 480_029_179
    assert span(float) == 480_029_179 + 48


def test_the_latencies_of_a_worker_are_of_the_worker_alone(shared: Path) -> None:
    # the plugin: from the host's call to the later end of it and of its kernel
    (path,) = (shared / "data" / "kineto").rglob("*distributed_nccl*")
    told = events(path)
    calls = [one for one in told if one.name.startswith("nccl:")]
    rows = kernels(path).filter(category="communication").to_dicts()
    ends = [row["start_ns"] // 1_000 + row["duration_ns"] // 1_000 for row in rows]
    latencies = [
        max(call.ts + call.dur, end) - call.ts
        for call, end in zip(calls, ends, strict=True)
    ]
    assert latencies == [75, 1_558]


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_is_needed(shared: Path, reason: Reason) -> None:
    told = [(r["file"], f"{r['analysis']}: {r['metric']}") for r in every_row(shared)]
    assert reason in {reason_of(*one) for one in told}
