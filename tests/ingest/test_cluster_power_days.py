"""Days of power made alone: each goes on where the one before ended."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from ingest.synthetic.cluster._power_files import PowerFiles
from ingest.synthetic.cluster._scenario_faults import Kind
from ingest.synthetic.cluster.cluster import Cluster, cluster_of
from ingest.synthetic.cluster.outages import outages
from ingest.synthetic.cluster.power import PowerRecorder
from ingest.synthetic.cluster.power_days import PowerDay
from ingest.synthetic.cluster.scenario import Calendar, Fault, Fleet, Layout, Scenario
from ingest.synthetic.cluster.steps import step_windows
from ingest.tables import PowerSamples
from ingest.times import DAY_NS

S = 10**9


def capped(kind: Kind, rank: int) -> Fault:
    """A cap from an hour before midnight on, for two."""
    return Fault(kind=kind, rank=rank, from_s=82_800, length_s=7_200)


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    """Two nodes and a spare for two days; caps over midnight, an Xid on each day."""
    faults = (
        capped("power_cap", 3),
        capped("thermal_cap", 5),
        Fault(kind="xid", rank=9, from_s=20_000, xid=79),
        Fault(kind="xid", rank=9, from_s=100_000, xid=48),
    )
    return cluster_of(
        Scenario(
            fleet=Fleet(hosts=2, spares=1),
            layout=Layout(tp=8, dp=2),
            calendar=Calendar(days=2),
            faults=faults,
        )
    )


@pytest.fixture(scope="module")
def days(cluster: Cluster) -> list[tuple[int, int]]:
    begun = cluster.scenario.begun_ns
    return [(begun, begun + DAY_NS), (begun + DAY_NS, begun + 2 * DAY_NS)]


@pytest.fixture(scope="module")
def alone(
    cluster: Cluster,
    days: list[tuple[int, int]],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[PowerDay, PowerRecorder]:
    """The second day, of which the first was never sampled."""
    folder = tmp_path_factory.mktemp("alone")
    files = PowerFiles(folder, folder / "none", cluster, days, 15 * S)
    for number, day in enumerate(days):
        for window in step_windows(cluster, *day):
            files.take(window)
        assert files.end(number, as_text=False) == 0
    second = PowerDay(cluster, days[1], 15 * S, files.counters()[1])
    return second, second.record(folder / "spool")


@pytest.fixture(scope="module")
def rows(
    cluster: Cluster,
    days: list[tuple[int, int]],
    tmp_path_factory: pytest.TempPathFactory,
) -> pl.DataFrame:
    """Both days, as their files have them."""
    folder = tmp_path_factory.mktemp("files")
    files = PowerFiles(folder, folder / "spool", cluster, days, 15 * S)
    written = 0
    for number, day in enumerate(days):
        files.begin(number)
        for window in step_windows(cluster, *day):
            files.take(window)
        written += files.end(number, as_text=False)
    found = pl.read_parquet(folder / "*.parquet")
    assert found.height == written
    return found.sort("host", "gpu_uuid", "time_ns")


def of_rank(cluster: Cluster, rows: pl.DataFrame, rank: int) -> pl.DataFrame:
    return rows.filter(pl.col("gpu_uuid") == cluster.fleet.gpus["gpu_uuid"][rank])


def test_a_day_is_the_same_alone(
    alone: tuple[PowerDay, PowerRecorder],
    rows: pl.DataFrame,
    days: list[tuple[int, int]],
) -> None:
    day, recorder = alone
    names = PowerSamples.column_names()
    made = pl.concat(day.frames(recorder, names))
    assert dict(made.schema) == dict(PowerSamples.create_empty().schema)
    assert made.height <= day.rows < made.height + 24 * 120
    filed = rows.filter(pl.col("time_ns") >= days[1][0])
    assert_frame_equal(made.select(filed.columns), filed, check_dtypes=False)


def test_samples_go_on_over_midnight(
    cluster: Cluster, rows: pl.DataFrame, days: list[tuple[int, int]]
) -> None:
    """15 s apart; the energy between two is never more or less than on the days."""
    spare = of_rank(cluster, rows, 17)
    assert spare["time_ns"].diff().drop_nulls().unique().to_list() == [15 * S]
    for rank in (0, 3, 5, 17):
        one = of_rank(cluster, rows, rank)
        risen = one.with_columns(pl.col("energy_mj", "temperature_c").diff())
        last = (pl.col("time_ns") >= days[1][0]) & (
            pl.col("time_ns").shift(1) < days[1][0]
        )
        near = pl.col("time_ns").is_between(days[1][0] - 600 * S, days[1][0] + 600 * S)
        night, usual = risen.filter(last), risen.filter(near & ~last)
        assert night.height == 1
        for name, of in (("energy_mj", 0.02), ("temperature_c", 0.0)):
            seen = usual[name].to_numpy()
            low, high = seen.min() * (1 - of), seen.max() * (1 + of)
            assert low <= night[name][0] <= high, (rank, name)


def test_time_slowed_is_counted_over_midnight(
    cluster: Cluster, rows: pl.DataFrame
) -> None:
    """Of two hours 93 %, whatever the day; and a GPU stays as hot as it was."""
    for rank, name in ((3, "throttle_power_ns"), (5, "throttle_thermal_ns")):
        one = of_rank(cluster, rows, rank)
        counted = one[name][-1] - one[name][0]
        assert counted == pytest.approx(0.93 * 7_200 * S, rel=0.01)
        assert one[name].is_sorted()
    begun = cluster.scenario.begun_ns
    late = pl.col("time_ns").is_between(begun + 83_400 * S, begun + 89_900 * S)
    hot = of_rank(cluster, rows, 5).filter(late)
    assert hot["temperature_c"].unique().to_list() == [87]


def test_the_gauge_shows_the_last_xid_until_the_node_starts(
    cluster: Cluster, rows: pl.DataFrame
) -> None:
    one = of_rank(cluster, rows, 9)
    boots = [away.boot_ns for away in outages(cluster.attempts)]
    changes = one.filter(pl.col("last_xid") != pl.col("last_xid").shift(1))
    assert changes["last_xid"].to_list() == [79, 0, 48, 0]
    starts = changes["time_ns"].to_list()[1::2]
    assert all(0 <= at - boot < 15 * S for at, boot in zip(starts, boots, strict=True))
    assert one.filter(pl.col("energy_mj").diff() < 0)["time_ns"].to_list() == starts


def test_what_is_looked_up_is_what_is_there(
    alone: tuple[PowerDay, PowerRecorder], cluster: Cluster
) -> None:
    day, recorder = alone
    names = ["time_ns", "power_average_w", "gpu_uuid", "throttle_reasons"]
    every = pl.concat(day.frames(recorder, names))
    some = cluster.fleet.gpus["gpu_uuid"][[3, 12]].implode()
    low, high = day.span_ns[0] + 3_600 * S, day.span_ns[0] + 7_200 * S
    of_two = pl.col("gpu_uuid").is_in(some) & pl.col("time_ns").is_between(low, high)
    slowed = pl.col("throttle_reasons") == 4
    for wanted in (of_two, slowed, None):
        found = pl.concat(day.found(recorder, names, wanted))
        assert found.height
        assert_frame_equal(found, every if wanted is None else every.filter(wanted))
    hosts = pl.concat(day.found(recorder, ["host"], None))
    assert hosts.height == every.height
    assert hosts["host"].n_unique() == 3
