"""What is drawn for a made cluster: from one seed, of published sizes and rates."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from ingest.synthetic._history_causes import TABLE_5
from ingest.synthetic.cluster._drawn import drawn_faults
from ingest.synthetic.cluster.cluster import cluster_of
from ingest.synthetic.cluster.faults import PlacedFault
from ingest.synthetic.cluster.scenario import (
    Calendar,
    FaultsDrawn,
    Fleet,
    Layout,
    Noise,
    Scenario,
    Schedule,
    load_scenario,
    packaged,
)
from ingest.synthetic.cluster.steps import StepWindow, step_windows
from ingest.synthetic.cluster.truth import truth_of
from ingest.synthetic.cluster.write_logs import write_logs
from ingest.synthetic.cluster.write_raw import RawOptions, write_raw
from ingest.synthetic.cluster.write_steps import Kind
from tests.ingest.made_cluster import Matrix

S = 10**9

#: Nothing is noise but what a test gives back.
STILL = Noise(
    rank_cv=0.0,
    persistent_sd=0.0,
    common_cv=0.0,
    outliers=0.0,
    diurnal=0.0,
    first_step_s=0.0,
)

#: Work is the whole of a step.
PLAIN = Schedule(
    step_s=100.0, communication_share=0.0, idle_share=0.0, data_s=0.0, checkpoint_s=0.0
)

TWO = Scenario(run_id="two", fleet=Fleet(hosts=2), layout=Layout(tp=2, dp=8))


def digests(scenario: Scenario, folder: Path, kind: Kind) -> dict[str, str]:
    """Return the digest of each file, and of the truth, of 24 minutes."""
    cluster = cluster_of(scenario)
    span = (scenario.begun_ns, scenario.begun_ns + 1_440 * S)
    options = RawOptions(steps=kind, traces=1, trace_bytes=60_000)
    written = write_raw(folder, cluster, span, options)
    truth = msgspec.json.encode(truth_of(cluster, written.booked))
    found = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    found["truth.json"] = truth
    return {name: hashlib.sha256(data).hexdigest() for name, data in found.items()}


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_seed_gives_the_same_bytes_and_another_seed_others(
    tmp_path: Path, kind: Kind
) -> None:
    drawn = FaultsDrawn(era_days=1, stops=40, slow_gpus=20, flow_collisions=20)
    scenario = msgspec.structs.replace(TWO, faults_drawn=drawn)
    first = digests(scenario, tmp_path / "first", kind)
    assert first == digests(scenario, tmp_path / "again", kind)
    other = msgspec.structs.replace(scenario, seed=scenario.seed + 1)
    others = digests(other, tmp_path / "other", kind)
    same = {name for name, digest in first.items() if others.get(name) == digest}
    # what the run is does not go by the seed
    assert same == {"run.toml"}


def eras(count: int, **rates: float) -> list[PlacedFault]:
    """Return the faults that are drawn for some eras of a day each."""
    drawn = FaultsDrawn(era_days=1, **rates)  # type: ignore[arg-type]
    calendar = Calendar(days=count)
    found = msgspec.structs.replace(
        load_scenario("llama3"), calendar=calendar, faults_drawn=drawn
    )
    return list(drawn_faults(found))


@pytest.mark.parametrize(
    ("kind", "rate"),
    [
        ("slow_gpu", "slow_gpus"),
        ("thermal_cap", "thermal_caps"),
        ("power_cap", "power_caps"),
        ("slow_link", "slow_links"),
        ("flow_collision", "flow_collisions"),
        ("data_stall", "data_stalls"),
        ("checkpoint_storm", "checkpoint_storms"),
        ("preemption", "preemptions"),
    ],
)
def test_faults_come_as_often_as_they_are_said_to(kind: str, rate: str) -> None:
    """Counts of days are Poisson's: mean and variance are the rate, within 4 sigma."""
    days, mean = 500, 1.5
    faults = eras(days, **{rate: mean})
    assert {one.kind for one in faults} == {kind}
    begun = faults[0].from_ns // (86_400 * S)
    per_day = np.bincount([one.from_ns // (86_400 * S) - begun for one in faults])
    per_day = np.append(per_day, np.zeros(days - len(per_day), dtype=int))
    assert abs(per_day.mean() - mean) < 4 * np.sqrt(mean / days)
    # the variance of a Poisson variance: mean / n + 2 mean^2 / (n - 1)
    spread = np.sqrt(mean / days + 2 * mean**2 / (days - 1))
    assert abs(per_day.var(ddof=1) - mean) < 4 * spread


def test_slow_gpus_are_as_bad_and_last_as_long_as_published() -> None:
    """P(S >= 1.1) 43 %, waste P50 7.8 % and P90 21.9 %; 72 minutes in the mean."""
    faults = eras(500, slow_gpus=8.0)
    slowdown = np.array([one.severity for one in faults])
    waste = 1 - 1 / slowdown
    assert len(faults) > 3_500
    assert (slowdown >= 1.1).mean() == pytest.approx(0.431, abs=0.03)
    assert np.quantile(waste, [0.5, 0.9]) == pytest.approx([0.078, 0.219], rel=0.08)
    lasted_s = np.array([one.to_ns - one.from_ns for one in faults]) / S
    # an exponential of 4,320 s that is cut off below 600 s
    mean_s = 600 + 4_320 * np.exp(-600 / 4_320)
    assert lasted_s.min() == 600
    assert lasted_s.mean() == pytest.approx(mean_s, rel=0.06)
    ranks = [rank for one in faults for rank in one.ranks]
    assert len(ranks) == len(faults)
    # an even choice of 2,048 nodes
    most = Counter(rank // 8 for rank in ranks).most_common(1)[0][1]
    assert most <= 12


def test_a_lemon_node_takes_its_share_of_the_stops() -> None:
    faults = eras(40, stops=100, lemon_share=0.2)
    at_nodes = [one for one in faults if one.host is not None]
    by_era: dict[int, list[int]] = {}
    for one in at_nodes:
        by_era.setdefault(one.from_ns // (86_400 * S), []).append(one.host or 0)
    lemons = [Counter(hosts).most_common(1)[0][1] for hosts in by_era.values()]
    expected = 0.2 * len(at_nodes)
    assert abs(sum(lemons) - expected) < 4 * np.sqrt(expected * 0.8)


def test_codes_in_the_logs_are_of_the_published_mix(tmp_path: Path) -> None:
    """54 days of 419 stops: each code is printed once for each stop of its causes."""
    scenario = msgspec.structs.replace(
        TWO,
        calendar=Calendar(days=54),
        schedule=Schedule(step_s=600.0),
        faults_drawn=FaultsDrawn(stops=419, planned=47),
    )
    cluster = cluster_of(scenario)
    write_logs(tmp_path, cluster, (scenario.begun_ns, cluster.until_ns))
    told = re.compile(r"NVRM: Xid \(PCI:[^)]*\): (\d+),")
    found: Counter[int] = Counter()
    for path in tmp_path.iterdir():
        found.update(int(code) for code in told.findall(path.read_text()))
    users = {code: found.pop(code, 0) for code in (13, 31, 43)}
    mix = {one.xid: one.count for one in TABLE_5 if one.xid is not None}
    assert mix == {79: 148, 95: 72, 48: 19, 119: 17}
    assert found == mix
    # 3 errors of users' code in 1,000 node-days: of 108 node-days hardly any
    assert sum(users.values()) <= 3
    causes = Counter(one.cause for one in cluster.faults)
    assert causes.pop("Firmware upgrade") == 47
    assert causes == {one.name: one.count for one in TABLE_5}


def windows(noise: Noise, **changed: object) -> Iterator[StepWindow]:
    """Yield the steps of a day of 16 ranks with some noise."""
    fields = {"noise": noise, "schedule": PLAIN, **changed}
    scenario = msgspec.structs.replace(TWO, **fields)
    yield from step_windows(cluster_of(scenario), 0, 2**62)


def work_s(noise: Noise, **changed: object) -> Matrix:
    """Return own work of steps x ranks, and of nothing else. [s]"""
    found = np.concatenate([one.compute for one in windows(noise, **changed)])
    return found.astype(np.float64) / S


@pytest.mark.parametrize("name", packaged())
def test_healthy_steps_of_a_scenario_differ_as_those_of_real_runs(name: str) -> None:
    """A core of 0.5 to 3 %, at most 5 % of steps above 1.3, a first of 10 to 100.

    Throughput is 1 to 2 % less at the warmest time of the day than twelve hours before.
    """
    whole = load_scenario(name, days=1)
    healthy = msgspec.structs.replace(whole, faults=(), faults_drawn=FaultsDrawn())
    (attempt,) = cluster_of(healthy).attempts
    clock = attempt.clock
    ratio = clock.duration - clock.checkpoint
    ratio = ratio / np.median(ratio)
    core = ratio[abs(ratio - 1) < 0.1]
    assert 0.005 <= core.std() / core.mean() <= 0.03
    assert 0.0005 < (ratio > 1.3).mean() <= 0.051
    assert 10 <= ratio[0] <= 100
    hour = (attempt.begin_ns + clock.start * 1_000) % (86_400 * S) / (3_600 * S)
    warm, cold = (np.median(ratio[abs(hour - at) < 1]) for at in (15, 3))
    assert 0.01 <= warm / cold - 1 <= 0.02


def test_the_time_of_day_is_felt_most_at_three_in_the_afternoon() -> None:
    noise = msgspec.structs.replace(STILL, diurnal=0.02)
    took = np.concatenate([one.compute[:, 0] for one in windows(noise)])
    start = np.concatenate([one.start[:, 0] for one in windows(noise)])
    hour = start % (86_400 * S) / (3_600 * S)
    assert hour[took.argmax()] == pytest.approx(15, abs=0.1)
    assert hour[took.argmin()] == pytest.approx(3, abs=0.1)
    assert took.max() / took.min() == pytest.approx(1.02, abs=1e-5)


def test_each_rank_collects_garbage_in_its_turn() -> None:
    """Hundreds of ms every 50 steps, each rank at its own."""
    noise = msgspec.structs.replace(STILL, gc_every=50, gc_s=0.25)
    pause = work_s(noise) - 100
    steps, ranks = np.nonzero(pause > 0.01)
    assert len(steps) == pytest.approx(len(pause) * 16 / 50, abs=16)
    for rank in range(16):
        assert set(np.diff(steps[ranks == rank])) == {50}
    lengths = pause[steps, ranks]
    assert lengths.mean() == pytest.approx(0.25 * np.exp(0.02), rel=0.05)
    assert lengths.min() > 0.1
    assert lengths.max() < 0.6


def test_ranks_that_collect_together_pause_all_at_once() -> None:
    noise = msgspec.structs.replace(STILL, gc_every=50, gc_s=0.06, gc_synchronised=True)
    for window in windows(noise):
        assert (window.wait == 0).all()
        idle = (window.duration - window.compute)[:, 0] / S
        step = window.first_step + np.arange(window.steps)
        assert idle == pytest.approx(np.where(step % 50 == 49, 0.06, 0), abs=1e-6)


def test_replicas_differ_by_the_lengths_of_their_documents() -> None:
    """Of eight replicas at a spread of 15 % the longest takes 1.24 of the usual.

    WLB-LLM gains 1.23 by balancing them. The mean of the greatest of eight normal draws
    is 1.424 and their variance 0.373: exp(0.15 x 1.424 + 0.15^2 x 0.373 / 2) = 1.243.
    """
    noise = msgspec.structs.replace(STILL, sequence_sd=0.15)
    work = work_s(noise)
    # two ranks of a replica have the same documents
    assert work[:, ::2] == pytest.approx(work[:, 1::2], rel=1e-5)
    ratio = work[:, ::2] / 100
    assert np.log(ratio).std() == pytest.approx(0.15, rel=0.03)
    assert ratio.max(axis=1).mean() == pytest.approx(1.243, rel=0.01)
    # what is long in one step is not in the next
    lag = np.corrcoef(ratio[1:, 0], ratio[:-1, 0])[0, 1]
    assert abs(lag) < 4 / np.sqrt(len(ratio))


def test_single_pauses_are_of_one_length_or_of_any() -> None:
    noise = msgspec.structs.replace(
        STILL, outliers=0.2, fixed_share=0.6, fixed_ratio=0.4, outlier_ratio=0.1
    )
    calendar = Calendar(days=20)
    pause = work_s(noise, calendar=calendar) / 100 - 1
    steps, ranks = np.nonzero(pause > 1e-4)
    count, every = len(steps), len(pause)
    assert abs(count - 0.2 * every) < 4 * np.sqrt(0.2 * 0.8 * every)
    assert len(set(steps)) == count
    lengths = pause[steps, ranks]
    is_fixed = abs(lengths - 0.4) < 0.4 * 0.0101
    assert is_fixed.mean() == pytest.approx(0.6, abs=0.04)
    assert lengths[~is_fixed].mean() == pytest.approx(0.1, rel=0.1)
    # any rank alike
    most = Counter(ranks.tolist()).most_common(1)[0][1]
    assert most < count / 16 + 4 * np.sqrt(count / 16)
