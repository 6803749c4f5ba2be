"""Traces moved in place and time: what is read of each is what it was made for."""

import gzip
import io
import json
from pathlib import Path

import polars as pl

from ingest.sources import kineto
from ingest.synthetic.cluster.write_traces import (
    TracePlace,
    TraceTemplate,
    made_template,
    write_traces,
)
from ingest.tables import Collectives, Kernels, Table
from tests.ingest.readings import reading, refused

START_NS = 1_772_442_049_200_000_000

#: Two ranks of a job of two: the second copies the first.
EVENT = (
    '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d.250,"dur":2,'
    '"args":{"device":0,"stream":7,"correlation":%d}}'
)
LAUNCH = (
    '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":77,"tid":77,'
    '"ts":%d,"dur":1,"args":{"correlation":%d}}'
)
TRACE = (
    '{"distributedInfo":{"rank":0,"world_size":2,"pg_config":[{"pg_name":"0",'
    '"ranks":[0, 1]}]},"traceEvents":['
    + ",".join((LAUNCH % (1_000, 1), EVENT % (1_010, 1), LAUNCH % (1_020, 2)))
    + '],"baseTimeNanoseconds":5000,"devices":[{"id":0}]}'
)


def place(rank: int) -> TracePlace:
    return TracePlace(rank, 16, 40_000 + rank, f"node-{rank}", START_NS + rank)


def told(path: Path, table: type[Table]) -> pl.DataFrame:
    text = gzip.decompress(path.read_bytes())
    whole = list(kineto.SOURCE.read(io.BytesIO(text), reading(name=path.name)))
    assert refused(whole) == []
    return pl.concat(one.rows[table] for one in whole if table in one.rows)


def test_rank_process_groups_and_time_are_replaced() -> None:
    whole = json.loads(TraceTemplate.of(TRACE.encode()).filled(place(5)))
    assert whole["distributedInfo"]["rank"] == 5
    assert whole["distributedInfo"]["world_size"] == 16
    # the third pair of ranks
    assert whole["distributedInfo"]["pg_config"][0]["ranks"] == [4, 5]
    assert [one["pid"] for one in whole["traceEvents"]] == [40_005, 0, 40_005]
    first_ns = whole["baseTimeNanoseconds"] + whole["traceEvents"][0]["ts"] * 1_000
    assert first_ns == START_NS + 5


def test_copies_follow_each_other_with_numbers_of_their_own() -> None:
    template = TraceTemplate.of(TRACE.encode(), size=3 * len(TRACE))
    events = json.loads(template.filled(place(0)))["traceEvents"]
    assert [one["args"]["correlation"] for one in events] == [1, 1, 2, 3, 3, 4, 5, 5, 6]
    # 1000 to 1020 us, then a millisecond of nothing
    assert [one["ts"] for one in events[::3]] == [1_000, 2_021, 3_042]


def test_a_made_trace_is_read_whole(tmp_path: Path) -> None:
    template = made_template(7, size=400_000, step=30)
    write_traces(tmp_path, template, [place(0), place(9)])
    first, second = sorted(tmp_path.iterdir())
    ours, theirs = told(first, Kernels), told(second, Kernels)
    assert (ours["rank"] == 0).all()
    assert (theirs["rank"] == 9).all()
    assert (theirs["start_ns"] - ours["start_ns"]).unique().to_list() == [9]
    # three steps, twice
    assert ours["step"].drop_nulls().unique().sort().to_list() == [*range(30, 36)]


def test_a_real_trace_is_read_whole(shared: Path, tmp_path: Path) -> None:
    (source,) = (shared / "data/kineto").rglob("nccl_parser_config/nccl_data.json.gz")
    write_traces(tmp_path, TraceTemplate.load(source), [place(6), place(7)])
    groups = [
        told(path, Collectives)["group_id"].unique().sort().to_list()
        for path in sorted(tmp_path.iterdir())
    ]
    assert groups[0]
    assert groups[0] == groups[1]
