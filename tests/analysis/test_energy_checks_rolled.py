"""Windows of programs, held against hours where samples were condensed by day."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import Frames
from analysis._energy_beside import sampled_windows
from analysis._energy_beside_hours import condensed_windows
from analysis._energy_bridges import THRESHOLDS, bridges_of
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.energy_checks import ANALYSIS, EnergyChecks
from analysis.gpus import Gpus
from analysis.power_days import PowerDays
from analysis.power_hours import PowerHours
from ingest.tables import EnergyWindows, PowerSamples, Table
from ingest.times import SECOND_NS
from tests.analysis.drawn_power import MIDNIGHT_NS, Cluster, clusters, rows_of
from tests.examples import examples

#: Joules that a program told, over those of the samples.
TOLD = (0.5, 0.94, 0.96, 1.0, 1.04, 1.06, 2.0)

MADE = clusters(["lost", "jitter", "still", "repeats", "no limit", "copies"])


@st.composite
def checked(draw: st.DrawFn) -> tuple[Cluster, pl.DataFrame]:
    """A cluster, and windows that may lie in each other."""
    cluster = draw(MADE)
    times = pl.col("time_ns") - MIDNIGHT_NS
    devices = cluster.samples.group_by("cluster", "host", "gpu_uuid", "level").agg(
        first=(times.min() // SECOND_NS), last=(times.max() // SECOND_NS)
    )
    rows = []
    for device in devices.sort(pl.all()).iter_rows(named=True):
        first, last = device["first"], device["last"]
        for number in range(draw(st.integers(0, 3))):
            start = draw(st.integers(first - 9, last))
            end = draw(st.integers(start + 1, last + 9))
            of_node = device["level"] == "gpu_board" and draw(st.booleans())
            node = {"gpu_uuid": "node", "level": "gpus"} if of_node else {}
            told = {
                "window": f"w{number}",
                "start_ns": MIDNIGHT_NS + start * SECOND_NS,
                "end_ns": MIDNIGHT_NS + end * SECOND_NS,
                "duration_ns": (end - start) * SECOND_NS,
                "time_quality": "exact",
                "energy_mj": 0,
            }
            rows.append(device | node | told)
    windows = rows_of(EnergyWindows, rows).unique(EnergyWindows.key)
    return cluster, windows.sort(EnergyWindows.key)


@pytest.mark.thorough
@settings(max_examples=examples(60))
@given(checked())
def test_energy_lies_between_the_least_and_the_most(
    made: tuple[Cluster, pl.DataFrame],
) -> None:
    cluster, windows = made
    single = windows.filter(pl.col("level") != "gpus").with_row_index("w")
    if single.is_empty():
        return
    heavy, bridges = cluster.heavy(), bridges_of(THRESHOLDS)
    told = sampled_windows(cluster.samples.lazy(), single, bridges)
    days, hours = heavy[PowerDays], heavy[PowerHours]
    found = condensed_windows(days, hours, single, bridges)
    whole = pl.col("coverage_ratio") == 1
    both = told.filter(whole).join(found.filter(whole), on=["w", "method"])
    rounded = 0.01
    for row in both.iter_rows(named=True):
        assert row["least_j_right"] - rounded <= row["energy_j"]
        assert row["energy_j"] <= row["most_j_right"] + rounded
    # AND what is told of energy lies between them, too
    assert (found["least_j"] <= found["energy_j"]).all()
    assert (found["energy_j"] <= found["most_j"]).all()


@pytest.mark.parametrize("limit_w", [None, 700.0])
def test_a_counter_sees_more_than_samples_do(limit_w: float | None) -> None:
    # GIVEN samples of 400 W a minute apart, and 600 W in one of the minutes between
    device = {"cluster": "pod", "host": "a", "gpu_uuid": "GPU-0", "level": "gpu_board"}
    sample = device | {
        "file_id": "f",
        "time_quality": "exact",
        "power_limit_w": limit_w,
    }
    watts = [400, 400, 400, 600, 400, 400]
    at = [MIDNIGHT_NS + minute * 60 * SECOND_NS for minute in range(len(watts) + 1)]
    counted = [10**8 + sum(watts[:minute]) * 60_000 for minute in range(len(at))]
    power = [400.0 + minute % 2 for minute in range(len(at))]
    told = zip(at, counted, power, strict=True)
    samples = rows_of(
        PowerSamples,
        [
            sample | {"time_ns": time, "energy_mj": mj, "power_average_w": average}
            for time, mj, average in told
        ],
    )
    # WHEN a window is that minute
    window = device | {"window": "w", "start_ns": at[3], "end_ns": at[4]}
    window |= {"duration_ns": at[4] - at[3], "time_quality": "exact", "energy_mj": 0}
    windows = rows_of(EnergyWindows, [window]).with_row_index("w")
    tables: dict[type[Table], pl.DataFrame] = {
        table: rows_of(table, []) for table in (Allocations, Gpus, Attempts)
    }
    heavy = Cluster(samples, tables).heavy()
    days, hours = heavy[PowerDays], heavy[PowerHours]
    (found,) = condensed_windows(
        days, hours, windows, bridges_of(THRESHOLDS)
    ).to_dicts()
    # THEN hours allow for it
    assert found["method"] == "counter"
    assert found["least_j"] <= 600 * 60 <= found["most_j"]


@pytest.mark.thorough
@settings(max_examples=examples(60))
@given(checked(), st.sampled_from(TOLD))
def test_no_verdict_by_hours_contradicts_that_by_samples(
    made: tuple[Cluster, pl.DataFrame], ratio: float
) -> None:
    # GIVEN windows of which a program told some part of what samples say
    cluster, windows = made
    light = answers(cluster.light(), windows)
    joules = light["energy_j"].fill_null(100.0) * ratio * 1_000
    told = windows.with_columns(energy_mj=joules.round().cast(pl.Int64))
    # WHEN they are held against samples, and against hours
    by_samples, by_hours = (
        answers(frames, told) for frames in (cluster.light(), cluster.heavy())
    )
    # THEN hours say the same or nothing, and they say which
    both = by_samples.join(by_hours, on=EnergyChecks.key, nulls_equal=True)
    assert both.height == windows.height
    for row in both.iter_rows(named=True):
        if row["coverage_ratio"] == 1:
            assert row["verdict_right"] in (row["verdict"], "not_comparable")
        if row["verdict_right"] != "not_comparable":
            assert row["coverage_ratio_right"] == 1
        elif row["verdict"] != "not_comparable":
            assert "by_hours" in row["quality_right"]


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(1.02, "agrees"), (0.98, "agrees"), (1.2, "differs")]
)
def test_steady_power_tells_by_hours_whatever_the_window(
    ratio: float, verdict: str
) -> None:
    # 400 W from 00:00 to 04:00; a program tells of 00:10 to 03:40, 210 minutes
    seconds = range(0, 4 * 3_600 + 1, 15)
    device = {"cluster": "pod", "host": "a", "gpu_uuid": "GPU-0", "level": "gpu_board"}
    sample = device | {"file_id": "f", "time_quality": "exact"}
    samples = rows_of(
        PowerSamples,
        [
            sample | {"time_ns": MIDNIGHT_NS + at * SECOND_NS, "power_average_w": watts}
            for at in seconds
            # a sensor that stood still would be doubted
            for watts in [400.0 + at % 2]
        ],
    )
    length = 210 * 60
    window = device | {
        "window": "w",
        "start_ns": MIDNIGHT_NS + 600 * SECOND_NS,
        "end_ns": MIDNIGHT_NS + (600 + length) * SECOND_NS,
        "duration_ns": length * SECOND_NS,
        "time_quality": "exact",
        "energy_mj": round(400.5 * length * ratio * 1_000),
    }
    tables: dict[type[Table], pl.DataFrame] = {
        table: rows_of(table, []) for table in (Allocations, Gpus, Attempts)
    }
    heavy = Cluster(samples, tables).heavy()
    (row,) = answers(heavy, rows_of(EnergyWindows, [window])).to_dicts()
    assert (row["verdict"], row["quality"]) == (verdict, "slow_scrape,by_hours")
    assert row["difference_ratio"] == pytest.approx(ratio - 1, abs=0.002)
    assert row["energy_j"] == pytest.approx(400.5 * length, rel=0.002)


def answers(frames: Frames, windows: pl.DataFrame) -> pl.DataFrame:
    tables: tuple[type[Table], ...] = (PowerSamples, PowerHours, PowerDays)
    of_devices = {table: frames[table] for table in tables}
    every = Frames({**of_devices, EnergyWindows: windows.lazy()})
    return ANALYSIS.compute(every, ANALYSIS.thresholds)[EnergyChecks]
