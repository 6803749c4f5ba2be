"""Power that was condensed by day is answered as its samples are.

What is kept of a day tells no single samples, so that answers may differ by what the
docstrings of PowerHours, FleetPower and EnergyRuns say, and by no more.
"""

from functools import partial
from typing import Final
from unittest.mock import patch

import polars as pl
import polars.selectors as cs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from analysis import (
    Frames,
    _energy_chunks,
    _energy_holdings,
    energy,
    energy_runs,
    power_swings,
    throttling,
)
from analysis._analysis import Analysis
from analysis.attempts import Attempts
from analysis.energy import Energy
from analysis.energy_runs import EnergyRuns
from analysis.fleet_power import FleetPower
from analysis.power_shapes import PowerShapes
from analysis.throttling import Throttling
from ingest.tables import StepTimings, Table
from ingest.times import SECOND_NS
from tests.analysis.drawn_power import Cluster, clusters, rows_of
from tests.analysis.odd_power import ODDITIES
from tests.examples import examples

pytestmark = pytest.mark.thorough

#: Energy of an hour is kept to a millijoule, power to a milliwatt.
assert_energy: Final = partial(
    assert_frame_equal, check_exact=False, rel_tol=1e-6, abs_tol=0.02
)

#: Means over an hour are kept to a thousandth.
assert_means: Final = partial(
    assert_frame_equal, check_exact=False, rel_tol=0.0, abs_tol=0.0011
)

#: Of a counter that stands out beside midnight, the reads of the other day tell more.
COUNTED: Final = ("reset", "jump")

#: Two sources that tell a device beside each other.
BESIDE: Final = "two sources"

#: Doubts that follow from how often a sensor tells something new: of several days, the
#: middle of what each tells.
OF_SENSORS: Final = "(^|,)(refresh_slower_than_window|slow_scrape)"

#: More than any device is said to draw, and than a sound board does. [W]
MOST_W: Final = 5_000.0
BOARD_W: Final = 700.0

#: Most between two samples of a device: a gap, and an interval. [s]
MOST_APART_S: Final = 1_260

PER_STEP: Final = ("j_per_step", "j_per_token")


def answers(analysis: Analysis, frames: Frames) -> dict[type[Table], pl.DataFrame]:
    found = analysis.compute(frames, analysis.thresholds)
    return {table: rows.sort(table.key) for table, rows in found.items()}


def both(
    analysis: Analysis, cluster: Cluster, of: type[Table]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of a table by samples, and by what was kept of days."""
    light, heavy = (
        answers(analysis, frames)[of].with_columns(
            cs.by_name("quality", require_all=False)
            .fill_null("")
            .str.replace_all(OF_SENSORS, "")
            .str.strip_prefix(",")
        )
        for frames in (cluster.light(), cluster.heavy())
    )
    return light, heavy


@settings(max_examples=examples(60))
@given(clusters([name for name in ODDITIES if name not in (*COUNTED, BESIDE)]))
def test_energy_is_that_of_the_samples(cluster: Cluster) -> None:
    assert_energy(*both(energy.ANALYSIS, cluster, Energy))
    assert_energy(*both(energy_runs.ANALYSIS, cluster, EnergyRuns))


@settings(max_examples=examples(30))
@given(clusters([name for name in ODDITIES if name != BESIDE]))
def test_lots_of_one_device_add_up_to_those_of_all(cluster: Cluster) -> None:
    whole = both(energy_runs.ANALYSIS, cluster, EnergyRuns)
    with (
        patch.object(_energy_holdings, "HOLDS", 1),
        patch.object(_energy_chunks, "CHUNK_SAMPLES", 1),
    ):
        parted = both(energy_runs.ANALYSIS, cluster, EnergyRuns)
    for rows, parts in zip(whole, parted, strict=True):
        assert_frame_equal(parts, rows, rel_tol=1e-9, abs_tol=1e-9)


@settings(max_examples=examples(60))
@given(clusters([BESIDE]))
def test_a_second_source_tells_otherwise_about_midnight_only(cluster: Cluster) -> None:
    light, heavy = both(energy.ANALYSIS, cluster, Energy)
    assert light.select(Energy.key).equals(heavy.select(Energy.key))
    # each day's last reads of the source that does not count are inside no other's
    assert ((light["samples_count"] - heavy["samples_count"]).abs() <= 2).all()
    apart = (light["energy_j"].fill_null(0) - heavy["energy_j"].fill_null(0)).abs()
    assert (apart <= 2 * MOST_APART_S * BOARD_W).all()
    # they only move what is told between two rows
    told = [
        rows.group_by("gpu_uuid", "level", maintain_order=True).agg(
            pl.col("energy_j").sum()
        )
        for rows in (light, heavy)
    ]
    assert_energy(*told)


@settings(max_examples=examples(60))
@given(clusters(["file_time", *COUNTED]))
def test_what_stands_out_at_midnight_costs_its_silences(cluster: Cluster) -> None:
    light, heavy = both(energy.ANALYSIS, cluster, Energy)
    assert light.select(Energy.key).equals(heavy.select(Energy.key))
    length = light["to_ns"] - light["from_ns"]
    # three silences: one on each side of a read, and the night itself
    lost = (light["coverage_ratio"] - heavy["coverage_ratio"]).abs() * length
    assert (lost <= 3 * 300 * SECOND_NS + 1).all()
    apart = (light["energy_j"].fill_null(0) - heavy["energy_j"].fill_null(0)).abs()
    assert (apart <= 3 * 300 * MOST_W).all()
    assert ((light["samples_count"] - heavy["samples_count"]).abs() <= 2).all()


@settings(max_examples=examples(60))
@given(clusters())
def test_time_slowed_is_that_of_the_samples(cluster: Cluster) -> None:
    assert_means(*both(throttling.ANALYSIS, cluster, Throttling))


@settings(max_examples=examples(60))
@given(clusters([], alike=True))
def test_swings_are_those_of_the_samples(cluster: Cluster) -> None:
    light, heavy = (
        answers(power_swings.ANALYSIS, frames)
        for frames in (cluster.light(), cluster.heavy())
    )
    runs = heavy[PowerShapes]["run_id"].implode()
    for table, rows in light.items():
        # a run that held devices between the samples of two days alone is not told
        mine, kept = rows.filter(pl.col("run_id").is_in(runs)), heavy[table]
        if table is PowerShapes:
            # peaks of devices are of samples taken while they were held
            mine, kept = (one.drop("coincidence_ratio") for one in (mine, kept))
        assert_energy(mine, kept)


def steps_of(cluster: Cluster, pause_s: int) -> pl.DataFrame:
    """Steps of 20 s of every attempt, with a pause after each fifth."""
    rows = []
    for attempt in cluster.tables[Attempts].iter_rows(named=True):
        start, step = attempt["start_ns"] + 5 * SECOND_NS, 0
        while start + 20 * SECOND_NS < attempt["end_ns"]:
            told = {"start_ns": start, "duration_ns": 20 * SECOND_NS, "step": step}
            rows.append({**attempt, **told, "rank": 0, "scope": "rank"})
            step += 1
            start += (20 + (pause_s if step % 5 == 0 else 0)) * SECOND_NS
    return rows_of(StepTimings, rows)


@settings(max_examples=examples(60))
@given(clusters([], alike=True), st.integers(0, 90))
def test_energy_in_steps_is_off_by_points_at_the_ends_of_spans(
    cluster: Cluster, pause_s: int
) -> None:
    steps = steps_of(cluster, pause_s)
    cluster.tables[StepTimings] = steps
    light, heavy = both(energy_runs.ANALYSIS, cluster, EnergyRuns)
    others = pl.exclude("productive_j", "productive_coverage_ratio", *PER_STEP)
    assert_energy(light.select(others), heavy.select(others))
    # a span of kept steps has two ends, each of them between two points; and power
    # moves by no more than what a board may draw
    widest = cluster.heavy()[FleetPower].select(pl.col("grid_ns").max()).collect()
    grid_s = (widest.item() or 0) / SECOND_NS
    ends = 2 * (steps.height // 5 + light.height)
    most = ends * grid_s * cluster.samples["gpu_uuid"].n_unique() * BOARD_W
    told = [rows["productive_j"].fill_null(0.0) for rows in (light, heavy)]
    assert ((told[0] - told[1]).abs() <= most).all()
