"""Raw files of a generated cluster: every reader takes all of what is written."""

from pathlib import Path

import polars as pl
import pytest

from ingest.files import head_of, open_expanded, recognize
from ingest.sources import SOURCES
from ingest.synthetic.cluster.cluster import Cluster, cluster_of
from ingest.synthetic.cluster.scenario import Fault, Fleet, Layout, Scenario
from ingest.synthetic.cluster.steps import frame_of, step_windows
from ingest.synthetic.cluster.write_raw import RawOptions, Written, write_raw
from ingest.tables import (
    Checkpoints,
    Collectives,
    Failures,
    HostMap,
    Jobs,
    Kernels,
    PowerSamples,
    StepTimings,
)
from tests.ingest.readings import reading, refused

S = 10**9

Tables = dict[str, list[pl.DataFrame]]

TABLES = (
    *(StepTimings, PowerSamples, Failures, Jobs, Kernels, Collectives),
    *(Checkpoints, HostMap),
)


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    faults = (Fault(kind="xid", rank=9, from_s=1_200, xid=79),)
    fleet, layout = Fleet(hosts=2), Layout(tp=8, dp=2)
    return cluster_of(Scenario(fleet=fleet, layout=layout, faults=faults))


@pytest.fixture(scope="module")
def span(cluster: Cluster) -> tuple[int, int]:
    begun = cluster.scenario.begun_ns
    return begun, begun + 2_400 * S


def read(folder: Path) -> Tables:
    """Read every file with its source; nothing is refused."""
    found: Tables = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        source = recognize(head_of(path), SOURCES)
        assert source is not None, path
        if source.name == "run-card":
            continue
        told = reading(path=str(path), name=path.name)
        with open_expanded(path) as stream:
            batches = list(source.read(stream, told))
        assert refused(batches) == [], path
        for batch in batches:
            for table, rows in batch.rows.items():
                found.setdefault(table.__name__, []).append(rows)
    return found


@pytest.fixture(scope="module")
def raw(
    cluster: Cluster,
    span: tuple[int, int],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, Written]:
    folder = tmp_path_factory.mktemp("raw")
    options = RawOptions(traces=2, trace_bytes=60_000)
    return folder, write_raw(folder, cluster, span, options)


def test_every_table_is_filled_and_nothing_refused(
    raw: tuple[Path, Written],
) -> None:
    folder, written = raw
    found = read(folder)
    for table in TABLES:
        assert found[table.__name__], table
    saves = pl.concat(found["Checkpoints"], how="diagonal")
    assert saves.height == written.checkpoints
    rows = pl.concat(found["StepTimings"], how="diagonal")
    steps = rows.filter(pl.col("start_ns") % 1_000 == 0, pl.col("rank").is_not_null())
    assert steps.height >= written.steps > 0
    power = pl.concat(found["PowerSamples"], how="diagonal")
    assert power.filter(pl.col("power_average_w").is_not_null()).height == written.power


def test_a_job_that_is_not_over_is_running(raw: tuple[Path, Written]) -> None:
    folder, _ = raw
    jobs = pl.concat(read(folder / "slurm")["Jobs"], how="diagonal").sort("start_ns")
    assert jobs["state"].to_list() == ["NODE_FAIL", "RUNNING"]
    assert jobs["end_ns"].is_null().to_list() == [False, True]


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_step_logs_hold_the_steps(
    cluster: Cluster, span: tuple[int, int], tmp_path: Path, kind: str
) -> None:
    options = RawOptions(steps=kind, power=False)  # type: ignore[arg-type]
    write_raw(tmp_path, cluster, span, options)
    rows = pl.concat(read(tmp_path / "steps")["StepTimings"], how="diagonal")
    made = pl.concat(frame_of(window) for window in step_windows(cluster, *span))
    kept = [
        *("attempt", "step", "rank", "start_ns", "duration_ns"),
        *("compute_ns", "communication_ns", "wait_ns", "data_ns", "checkpoint_ns"),
    ]
    order = ["attempt", "step", "rank"]
    assert rows.select(kept).sort(order).equals(made.select(kept).sort(order))


def test_parquet_power_is_recorded_too(
    cluster: Cluster, span: tuple[int, int], tmp_path: Path
) -> None:
    written = write_raw(tmp_path, cluster, span, RawOptions(steps="parquet"))
    power = pl.scan_parquet(tmp_path / "power" / "*.parquet")
    assert power.select(pl.len()).collect().item() == written.power > 0
