"""Each fault of a made cluster shows in its files, in its place, and only there."""

import re

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from tests.ingest.made_cluster import EACH, SCENARIO, SCHEDULE, Made, Matrix, S, made

#: What ranks differ by at most: five spreads of both kinds. [1]
NOISE = 0.03

HOST = 8

LOW_CLOCK = ["slow", "hot", "capped"]


@pytest.fixture(scope="module")
def each(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made(SCENARIO, tmp_path_factory.mktemp("each"), power=True)


def ranks_of(name: str) -> slice:
    """Return the ranks that a fault is at."""
    fault = EACH[name]
    if fault.rank is not None:
        return slice(fault.rank, fault.rank + 1)
    if fault.host is not None:
        return slice(HOST * fault.host, HOST * (fault.host + 1))
    return slice(None)


def cells(shape: tuple[int, ...], *names: str) -> npt.NDArray[np.bool_]:
    """Return which steps and ranks some of the faults are at."""
    found = np.zeros(shape, dtype=bool)
    for name in names:
        fault = EACH[name]
        assert fault.from_step is not None
        assert fault.steps is not None
        steps = slice(fault.from_step, fault.from_step + fault.steps)
        found[steps, ranks_of(name)] = True
    return found


def over_usual(values: Matrix) -> Matrix:
    """Return values over those of the median rank of each step."""
    found: Matrix = values / np.median(values, axis=1, keepdims=True)
    return found


def test_work_is_longer_where_a_gpu_is_slow_and_nowhere_else(each: Made) -> None:
    ratio = over_usual(each.matrix("compute_ns"))
    for name in LOW_CLOCK:
        there = ratio[cells(ratio.shape, name)]
        assert there == pytest.approx(EACH[name].badness, abs=2 * NOISE)
        assert there.mean() == pytest.approx(EACH[name].badness, abs=NOISE / 2)
    elsewhere = ratio[~cells(ratio.shape, *LOW_CLOCK)]
    assert elsewhere == pytest.approx(1, abs=NOISE)


def test_communication_is_longer_where_a_link_is_slow(each: Made) -> None:
    ratio = over_usual(each.matrix("communication_ns"))
    far, jam = (ratio[cells(ratio.shape, one)] for one in ("far", "jam"))
    assert far == pytest.approx(3)
    # flows collide anew in each step, at all cards of the node alike
    assert (ratio[500:560, 16:24] == ratio[500:560, 16:17]).all()
    assert 1 < jam.min() < 1.2
    assert 2.8 < jam.max() < 3
    assert (ratio[~cells(ratio.shape, "far", "jam")] == 1).all()


def test_the_input_is_late_at_a_node_or_everywhere(each: Made) -> None:
    # 0.5 s within a fifth of it, and half to one and a half of the stall
    data = each.matrix("data_ns") / S
    assert data[600:660].min() > 0.4 + 1.0
    assert data[600:660].max() < 0.6 + 3.0
    assert (data[600:660] == data[600:660, :1]).all()
    assert data[680:710, :HOST].min() > 0.4 + 2.5
    assert data[680:710, :HOST].max() < 0.6 + 7.5
    late = cells(data.shape, "late", "late_host")
    assert 0.4 <= data[~late].min() < data[~late].max() <= 0.6


def test_checkpoints_take_longer_in_a_storm(each: Made) -> None:
    saved = each.matrix("checkpoint_ns")[:, 0] / S
    (steps,) = np.nonzero(saved)
    every = SCHEDULE.checkpoint_every
    assert steps.tolist() == [*range(every - 1, len(saved), every)]
    stormy = (steps >= 720) & (steps < 820)
    usual, long = saved[steps[~stormy]], saved[steps[stormy]]
    assert usual == pytest.approx(SCHEDULE.checkpoint_s, rel=0.25)
    assert long == pytest.approx(5 * SCHEDULE.checkpoint_s, rel=0.25)
    saves = pl.read_parquet(each.folder / "checkpoints" / "*.parquet")
    first = saves.filter(pl.col("attempt") == 0)
    assert first["step"].to_list() == steps.tolist()
    assert (first["stall_ns"].to_numpy() / S == saved[steps]).all()


def test_power_tells_of_a_low_clock_and_why(each: Made) -> None:
    gpus = each.cluster.fleet.gpus.select("gpu_uuid", "rank")
    power = pl.read_parquet(each.folder / "power" / "*.parquet").with_columns(
        pl.col("gpu_uuid").cast(pl.String)
    )
    low = power.join(gpus, on="gpu_uuid").filter(
        pl.col("sm_clock_mhz") < SCENARIO.fleet.sm_clock_mhz,
        pl.col("throttle_reasons") != 0x1,
    )
    reasons = {"slow": 0x0, "hot": 0x20, "capped": 0x4}
    assert low["rank"].unique().sort().to_list() == [3, 4, 9]
    for name, bit in reasons.items():
        fault = each.fault(name)
        rows = low.filter(pl.col("rank") == EACH[name].rank)
        assert rows["throttle_reasons"].unique().to_list() == [bit]
        first, last = rows["time_ns"].min(), rows["time_ns"].max()
        assert fault["from_ns"] <= first < fault["from_ns"] + 60 * S
        assert fault["to_ns"] - 60 * S <= last <= fault["to_ns"]
        assert rows.height == pytest.approx(60, abs=20)


def test_the_driver_prints_a_code_where_and_when_it_fails(each: Made) -> None:
    """Users' own errors aside, which come and go."""
    told = re.compile(r"(\S+) (\S+) kernel: .*NVRM: Xid \(PCI:(\S+)\): (\d+), ")
    lines = [
        found.groups()
        for path in (each.folder / "logs").iterdir()
        for line in path.read_text().splitlines()
        if (found := told.match(line)) and int(found[4]) not in {13, 31, 43}
    ]
    faults = {
        f"node-{host:04}": (each.fault(name), code)
        for name, host, code in (("xid", 4, 95), ("lemon", 2, 79))
    }
    assert sorted(host for _, host, *_ in lines) == sorted(faults)
    for stamp, host, bus, code in lines:
        fault, expected = faults[host]
        (at,) = pl.Series([stamp]).str.to_datetime("%+", time_unit="ns")
        assert int(code) == expected
        assert 0 <= at.timestamp() * 1e9 - fault["from_ns"] < S
        gpus = each.cluster.fleet.gpus.filter(pl.col("host") == host)
        (rank,) = fault["ranks"]
        assert gpus.filter(pl.col("rank") == rank)["pci_address"].item() == bus


def test_jobs_and_the_list_tell_of_each_stop(each: Made) -> None:
    text = (each.folder / "slurm" / "sacct.txt").read_text()
    states = [
        line.split("|")[4] for line in text.splitlines() if line.startswith("70001|")
    ]
    assert states == [*["NODE_FAIL"] * 3, "PREEMPTED", "COMPLETED"]
    rows = (each.folder / "slurm" / "interruptions.csv").read_text().splitlines()
    ends = [row.split(",")[2:] for row in rows[1:]]
    assert ends == [
        ["no", "GPU", "GPU HBM3 Memory", "GPU HBM3 Memory", "node-0004"],
        [
            *("no", "Unknown", "NCCL Watchdog Timeouts", "NCCL Watchdog Timeouts"),
            "node-0001",
        ],
        ["no", "GPU", "Faulty GPU", "Faulty GPU", "node-0002"],
        ["no", "Scheduler", "Preempted", "Preempted", ""],
    ]


def test_a_hang_stands_until_the_watchdog_and_a_failure_does_not(each: Made) -> None:
    watchdog_s = SCENARIO.calendar.watchdog_s
    xid, hang, lemon, away = each.truth["interruptions"]
    for one, stood_s in ((xid, 0), (hang, watchdog_s), (lemon, 0), (away, 0)):
        until_sign = (one["signed_ns"] - one["struck_ns"]) / S
        assert stood_s < until_sign <= stood_s + 2
    # 863 and 975 are lost back to their checkpoints; who is preempted has saved
    lost = [one["repeated_steps"] for one in each.truth["interruptions"]]
    assert lost[:2] == [3, 5]
    assert lost[3] == 0
    assert (away["requeued_ns"] - away["struck_ns"]) / S >= 1_800


def test_while_a_run_hangs_its_gpus_spin_and_log_nothing(each: Made) -> None:
    """They draw what waiting draws, 40 % of what they may, for ten minutes."""
    _, hang, *_ = each.truth["interruptions"]
    steps = each.steps.filter(pl.col("attempt") == hang["attempt"])
    (last,) = steps.select((pl.col("start_ns") + pl.col("duration_ns")).max()).row(0)
    sacct = (each.folder / "slurm" / "sacct.txt").read_text().splitlines()
    (end,) = (
        one.split("|")[9] for one in sacct if "|NODE_FAIL|" in one and "|1|" in one
    )
    (ended,) = pl.Series([end]).str.to_datetime(time_unit="ns").dt.epoch("ns")
    assert last <= hang["struck_ns"]
    assert ended - last >= SCENARIO.calendar.watchdog_s * S
    power = pl.read_parquet(each.folder / "power" / "*.parquet").filter(
        pl.col("time_ns").is_between(hang["struck_ns"] + 2 * S, hang["signed_ns"])
    )
    gpus = each.cluster.fleet.gpus.with_columns(pl.col("gpu_uuid").cast(pl.String))
    drawn = power.with_columns(pl.col("gpu_uuid").cast(pl.String)).join(
        gpus.filter(pl.col("rank").is_not_null()), on="gpu_uuid"
    )
    assert drawn["gpu_uuid"].n_unique() == SCENARIO.ranks
    share = drawn["power_average_w"] / SCENARIO.fleet.tdp_w
    assert ((share - 0.4).abs() < 0.05).all()


@pytest.mark.parametrize("name", EACH)
def test_the_truth_says_where_when_why_and_what_it_cost(each: Made, name: str) -> None:
    fault, given = each.fault(name), EACH[name]
    gpus = each.cluster.fleet.gpus
    assert fault["kind"] == {"lemon_node": "stop"}.get(given.kind, given.kind)
    expected = {
        "slow": ([3], "low_clock"),
        "hot": ([4], "thermal_slowdown"),
        "capped": ([9], "power_cap"),
        "far": ([12], "slow_link"),
        "jam": ([*range(16, 24)], "slow_link"),
        "late": ([], "data_loading"),
        "late_host": ([*range(8)], "data_loading"),
        "storm": ([], "checkpoint_storm"),
        "xid": ([25], "GPU HBM3 Memory"),
        "hang": ([0], "NCCL Watchdog Timeouts"),
        "lemon": ([8], "Faulty GPU"),
        "preempted": ([], "Preempted"),
    }
    ranks, cause = expected[name]
    assert (fault["ranks"], fault["cause"]) == (ranks, cause)
    assert fault["gpu_uuids"] == gpus["gpu_uuid"].gather(ranks).to_list()
    assert fault["serials"] == gpus["serial"].gather(ranks).to_list()
    hosts = set(gpus["host"].gather(ranks))
    assert {fault["host"]} - {None} == hosts
    starts = each.starts()
    if given.steps is not None:
        first, last = given.from_step, (given.from_step or 0) + given.steps - 1
        assert [(one["first_step"], one["last_step"]) for one in fault["felt"]] == [
            (first, last)
        ]
        assert fault["from_ns"] == starts[0, first or 0]
        assert fault["to_ns"] == starts[0, last + 1]
    elif given.from_step is not None:
        # it strikes within its step, which nobody completes
        attempt = next(
            one["attempt"]
            for one in each.truth["attempts"]
            if one["stop"] == fault["id"]
        )
        before = starts[attempt, given.from_step - 1]
        assert before < fault["from_ns"] < before + 130 * S
        assert (attempt, given.from_step) not in starts
    else:
        since = fault["from_ns"] - SCENARIO.begun_ns
        assert 0 <= since - (given.from_s or 0) * S < 600 * S
    assert fault["joint_gpu_ns"] > 0
    assert fault["solo_gpu_ns"] > 0
