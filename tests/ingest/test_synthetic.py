"""The sample run: one seed, one set of bytes; sources that agree; a true ledger."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ingest.synthetic import Scenario, write_sample, write_scenario
from ingest.synthetic.run import attempts_of
from ingest.synthetic.scenario import SECOND
from ingest.synthetic.workload import EXIT_SKEW_NS

pytestmark = pytest.mark.thorough

#: Seed of the committed sample.
SEED = 16


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder, SEED)
    return folder


def expanded(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): gzip.decompress(path.read_bytes())
        if path.suffix == ".gz"
        else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "README.md"
    }


def truth_of(folder: Path) -> Any:
    return json.loads((folder / "truth.json").read_text())


def step_rows(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((folder / "pod16/steps").iterdir()):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            yield json.loads(line)


def test_the_committed_sample_is_what_its_seed_gives(
    sample: Path, project: Path
) -> None:
    committed = expanded(project / "sample_traces")
    assert expanded(sample) == {
        name: content
        for name, content in committed.items()
        if name.startswith(("pod16", "truth"))
    }


def test_the_same_seed_gives_the_same_bytes(sample: Path, tmp_path: Path) -> None:
    write_sample(tmp_path, SEED)
    again = {p.relative_to(tmp_path): p for p in tmp_path.rglob("*") if p.is_file()}
    assert all(
        (sample / name).read_bytes() == p.read_bytes() for name, p in again.items()
    )
    other = tmp_path / "other"
    write_sample(other, SEED + 1)
    steps = "pod16/steps/attempt-0-node-01.jsonl.gz"
    assert (other / steps).read_bytes() != (sample / steps).read_bytes()


def test_it_stays_small_and_the_truth_lies_outside(sample: Path) -> None:
    assert sum(p.stat().st_size for p in sample.rglob("*") if p.is_file()) < 2_000_000
    assert not list((sample / "pod16").rglob("truth*"))


def test_accounts_add_up_to_what_is_paid(sample: Path) -> None:
    gpu_ns = truth_of(sample)["gpu_ns"]
    attempts = truth_of(sample)["attempts"]
    paid = gpu_ns.pop("paid")
    assert sum(gpu_ns.values()) == paid
    assert paid == sum(16 * (a["end_ns"] - a["start_ns"]) for a in attempts)
    assert all(value > 0 for value in gpu_ns.values())


def test_parts_of_a_step_are_disjoint(sample: Path) -> None:
    parts = ("compute", "communication", "wait", "data", "checkpoint")
    for row in step_rows(sample):
        values = [row[f"{part}_ns"] for part in parts]
        assert min(values) >= 0
        assert sum(values) <= row["duration_ns"]


def test_steps_follow_each_other_without_a_gap(sample: Path) -> None:
    by_rank = defaultdict(list)
    for row in step_rows(sample):
        by_rank[row["attempt"], row["rank"]].append(row)
    assert len(by_rank) == 32
    for rows in by_rank.values():
        for one, following in pairwise(rows):
            assert following["step"] == one["step"] + 1
            assert following["start_ns"] == one["start_ns"] + one["duration_ns"]


def test_a_collective_ends_for_all_its_ranks_at_once(sample: Path) -> None:
    # rank 0 |--wait--|-transfer-|      clock of node-02 is ahead by 420 us
    # rank 5          |-transfer-|
    instances = defaultdict(list)
    for path in sorted((sample / "pod16/traces").iterdir()):
        trace = json.loads(gzip.decompress(path.read_bytes()), parse_float=str)
        rank = trace["distributedInfo"]["rank"]
        ahead = 420_000 if rank >= 8 else 0
        for event in trace["traceEvents"]:
            args = event.get("args", {})
            if "Seq" not in args:
                continue
            start, length = (int(event[k].replace(".", "")) for k in ("ts", "dur"))
            key = (args["Process Group Name"], args["Seq"])
            instances[key].append((rank, start - ahead, start + length - ahead))
            assert args["Group size"] == len(json.loads(args["Process Group Ranks"]))
    assert len(instances) == 3 * (8 * 32 + 2 * 4 + 1)
    for members in instances.values():
        ends = [end for _, _, end in members]
        assert max(ends) - min(ends) < EXIT_SKEW_NS
        assert max(start for _, start, _ in members) < min(ends)
    # the tensor-parallel pair of the slow rank: 5 comes last nearly always
    pair = [
        sorted(m, key=lambda x: x[1])
        for (name, _), m in instances.items()
        if name == "3"
    ]
    assert sum(members[-1][0] == 5 for members in pair) == len(pair) == 96


def test_only_the_slow_rank_computes_longer(sample: Path) -> None:
    compute: dict[int, int] = defaultdict(int)
    for row in step_rows(sample):
        compute[row["rank"]] += row["compute_ns"]
    typical = sorted(compute.values())[8]
    ratios = {rank: total / typical for rank, total in compute.items()}
    assert ratios.pop(5) == pytest.approx(1.12, abs=0.01)
    assert all(abs(ratio - 1) < 0.01 for ratio in ratios.values())


def test_sources_agree_on_the_loss(sample: Path) -> None:
    truth = truth_of(sample)
    lost = truth["failure"]
    log = (sample / "pod16/logs/node-02.kern.log").read_text()
    (line,) = (text for text in log.splitlines() if "): 79, " in text)
    stamp = datetime.fromisoformat(line.split(" ")[0])
    assert abs(stamp.timestamp() * SECOND - lost["time_ns"]) < 1_000_000
    assert lost["pci_address"] in line
    first, second = truth["attempts"]
    assert first["last_step_end_ns"] < lost["time_ns"] < first["end_ns"]
    assert second["first_step"] == lost["resumed_step"] == 50
    rows = (sample / "pod16/hosts.csv").read_text().splitlines()
    assert any(
        lost["gpu_uuid"] in row and row.startswith("11,node-02,3") for row in rows
    )


def test_a_healthy_run_has_one_attempt_and_no_culprit(tmp_path: Path) -> None:
    healthy = Scenario(seed=1, failed_step=None, slow_rank=None, planned_steps=40)
    write_scenario(tmp_path, healthy)
    truth = truth_of(tmp_path)
    assert truth["straggler"] is None
    assert truth["failure"] is None
    assert len(truth["attempts"]) == 1
    assert truth["gpu_ns"]["recompute"] == 0


def test_repair_saves_what_the_slow_rank_costs() -> None:
    # 1.12 x (16 x (16 + 32) + 18) ms of compute: 94 ms more in each of 20 steps
    slow = Scenario(seed=2, failed_step=None, planned_steps=20)
    healthy = Scenario(seed=2, failed_step=None, planned_steps=20, slow_rank=None)
    ends = [
        max(step.now for step in attempts_of(s)[0].steps[19]) for s in (slow, healthy)
    ]
    expected = 20 * 0.12 * (16 * 48 + 18) * 1_000_000
    assert ends[0] - ends[1] == pytest.approx(expected, rel=0.15)
