"""Power of a generated cluster: by what a GPU does, and what faults leave in it."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ingest.synthetic.cluster._power_activity import Rows
from ingest.synthetic.cluster._power_group import Group
from ingest.synthetic.cluster._power_levels import (
    COMMUNICATION,
    COMPUTE,
    DIURNAL,
    LOADED,
    WAIT,
)
from ingest.synthetic.cluster.cluster import Cluster, cluster_of
from ingest.synthetic.cluster.outages import outages
from ingest.synthetic.cluster.power import PowerRecorder
from ingest.synthetic.cluster.scenario import Fault, Fleet, Layout, Scenario
from ingest.synthetic.cluster.steps import step_windows
from ingest.synthetic.cluster.write_power import PowerFrames, write_power_parquet
from ingest.tables import PowerSamples

S = 10**9

#: Nine o'clock: six hours before the warmest, when the fleet draws as usual.
NINE_NS = 9 * 3_600 * S

#: Samples are of whole tenths of a watt.
ROUNDED_W = 0.051


def drawn() -> Rows:
    """Two steps of 4 s of one GPU.

    0    1         3    3.5  4         5         7    7.5  8
    |data| compute |wait|comm|  data   | compute |wait|comm|
    """
    seconds = np.array([[2.0], [2.0]])
    return Rows(
        start=NINE_NS + np.array([0, 4 * S, 8 * S]),
        data=np.array([S, S]),
        compute=(seconds * S).astype(np.int64),
        wait=np.full((2, 1), S // 2),
        communication=np.full((2, 1), S // 2),
        level=np.full(2, LOADED, np.float32),
        is_busy=np.zeros(2, np.bool_),
    )


def sampled(*at_s: float) -> tuple[list[float], list[float], float]:
    """Return average, instant and the energy of a GPU of 1,000 W. [W, W, J]"""
    one = np.ones(1, np.float32)
    group = Group(
        gpus=slice(0, 1),
        columns=slice(0, 1),
        tdp_w=1_000.0,
        factor=one,
        place_c=0 * one,
        hindered=(),
        noise=np.zeros(1_000, np.float32),
    )
    times = NINE_NS + np.array([round(at * S) for at in at_s])
    (found,) = group.take(drawn(), times)
    average, instant = (part[:, 0] / 10 for part in (found.average, found.instant))
    return average.tolist(), instant.tolist(), float(found.energy.sum() / 1e3)


def test_an_average_is_over_the_last_second_and_an_instant_is_not() -> None:
    average, instant, _ = sampled(1.5, 3, 3.25, 4, 4.5)
    rest, work, wait, talk = (
        1e3 * one for one in (LOADED, COMPUTE, WAIT, COMMUNICATION)
    )
    expected = [
        (rest + work) / 2,
        work,
        0.75 * work + 0.25 * wait,
        (wait + talk) / 2,
        # over the border between two steps
        (talk + rest) / 2,
    ]
    assert average == pytest.approx(expected, abs=ROUNDED_W + DIURNAL)
    assert instant == pytest.approx([work, wait, wait, rest, rest], abs=ROUNDED_W)


def test_the_counter_is_the_whole_energy() -> None:
    """1 s loaded, 2 s at work, half a second each of the others: twice, to 8 s."""
    *_, energy = sampled(2, 7.999999)
    step = LOADED + 2 * COMPUTE + 0.5 * WAIT + 0.5 * COMMUNICATION
    assert energy == pytest.approx(2_000 * step, rel=1e-4)


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    faults = (
        Fault(kind="power_cap", rank=3, from_s=600, length_s=900),
        Fault(kind="thermal_cap", rank=5, from_s=600, length_s=900),
        Fault(kind="xid", rank=9, from_s=2_400, xid=79),
    )
    fleet, layout = Fleet(hosts=2, spares=1), Layout(tp=8, dp=2)
    return cluster_of(Scenario(fleet=fleet, layout=layout, faults=faults))


@pytest.fixture(scope="module")
def power(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    folder = tmp_path_factory.mktemp("power")
    begun = cluster.scenario.begun_ns
    span = (begun, begun + 3_600 * S)
    recorder = PowerRecorder(cluster, span, folder / "spool")
    for window in step_windows(cluster, *span):
        recorder.take(window)
    rows = write_power_parquet(folder, PowerFrames(cluster), recorder.finish())
    frame = pl.scan_parquet(folder / "*.parquet").collect()
    assert frame.height == rows
    assert not any((folder / "spool").iterdir())
    return frame.with_columns(
        pl.col("host", "gpu_uuid").cast(pl.String),
        at_s=(pl.col("time_ns") - begun) / 1e9,
    )


def of_rank(cluster: Cluster, power: pl.DataFrame, rank: int) -> pl.DataFrame:
    return power.filter(pl.col("gpu_uuid") == cluster.fleet.gpus["gpu_uuid"][rank])


def test_rows_are_those_of_the_table_in_its_order(power: pl.DataFrame) -> None:
    assert set(power.columns) - {"at_s"} <= set(PowerSamples.column_names())
    key = power.select("host", "gpu_uuid", "time_ns")
    assert key.equals(key.sort("host", "gpu_uuid", "time_ns"))
    assert key.is_unique().all()


def test_a_capped_gpu_is_slow_at_its_limit_and_counts_it(
    cluster: Cluster, power: pl.DataFrame
) -> None:
    """At 1,980 / 1.12 MHz, in steps of 15, and at a limit that is its power."""
    one = of_rank(cluster, power, 3)
    during = one.filter(pl.col("at_s").is_between(700, 1_499))
    assert during["sm_clock_mhz"].unique().to_list() == [1_770]
    assert during["throttle_reasons"].unique().to_list() == [0x4]
    (limit,) = during["power_limit_w"].unique().to_list()
    assert during["power_instant_w"].quantile(0.75) == pytest.approx(limit, rel=0.04)
    counted = one["throttle_power_ns"].max() - one["throttle_power_ns"].min()  # type: ignore[operator]
    assert counted == pytest.approx(0.93 * 900 * S, rel=0.02)
    assert one.filter(pl.col("at_s") < 600)["power_limit_w"].unique().to_list() == [700]


def test_a_gpu_slowed_for_heat_is_hot(cluster: Cluster, power: pl.DataFrame) -> None:
    during = of_rank(cluster, power, 5).filter(pl.col("at_s").is_between(900, 1_499))
    assert during["temperature_c"].unique().to_list() == [87]
    assert during["sm_clock_mhz"].unique().to_list() == [1_650]
    assert during["throttle_reasons"].unique().to_list() == [0x20]


def test_a_restarted_node_is_away_and_counts_anew(
    cluster: Cluster, power: pl.DataFrame
) -> None:
    (gone,) = outages(cluster.attempts)
    one = of_rank(cluster, power, 9)
    away = pl.col("time_ns").is_between(gone.down_ns, gone.boot_ns - 1)
    assert one.filter(away).is_empty()
    drops = one.filter(pl.col("energy_mj").diff() < 0)["time_ns"].to_list()
    assert len(drops) == 1
    assert gone.boot_ns <= drops[0] < gone.boot_ns + 15 * S
    before = one.filter(pl.col("at_s").is_between(2_401, 2_440))
    assert before["last_xid"].unique().to_list() == [79]
    assert one["last_xid"][-1] == 0
    other = of_rank(cluster, power, 2)
    assert (other["energy_mj"].diff().drop_nulls() > 0).all()


def test_no_run_no_work(cluster: Cluster, power: pl.DataFrame) -> None:
    spare = of_rank(cluster, power, 17)
    assert spare["power_average_w"].max() < 110  # type: ignore[operator]
    assert spare["throttle_reasons"].unique().to_list() == [0x1]
    assert spare.height == of_rank(cluster, power, 2).height


def test_the_time_between_samples_changes_no_energy(
    cluster: Cluster, tmp_path: Path
) -> None:
    begun = cluster.scenario.begun_ns
    span = (begun + 900 * S, begun + 930 * S)
    totals = []
    for interval in (S // 10, 15 * S):
        recorder = PowerRecorder(cluster, span, tmp_path, interval)
        for window in step_windows(cluster, *span):
            recorder.take(window)
        first = next(iter(recorder.finish()))
        # each counts from the sample before on
        used = (first.times_ns > span[0]) & (first.times_ns <= span[0] + 15 * S)
        energy = first.read(np.arange(16)).energy
        totals.append(energy[:, used].sum(axis=1) / 1e3)
    assert totals[0] == pytest.approx(totals[1], rel=1e-3)
