"""Power over time on the page, where samples were condensed by day."""

from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.energy import Energy
from analysis.fleet_power import FleetPower
from analysis.gpus import Gpus
from analysis.lost_time import LostTime
from analysis.power_days import PowerDays
from analysis.runs import Runs
from ingest.tables import PowerSamples
from reports import INPUTS, _blind_inputs, energy
from reports._section import Chart, Scope
from tests.reports.builder import HOUR, RUN, START, Row, Rows, S, framed

GRID = 5 * S

#: The first point from which 200 are on the page; START is a point.
FIRST = START

GPUS = 4


def sampled() -> list[Row]:
    """What each GPU drew at 200 points: another one each time."""
    return [
        {
            "cluster": "pod",
            "host": f"node-{gpu // 2}",
            "gpu_uuid": f"GPU-{gpu}",
            "level": "gpu_board",
            "time_ns": FIRST + point * GRID,
            "power_instant_w": 300.0 + (point * 7 + gpu * 11) % 50,
        }
        for point in range(200)
        for gpu in range(GPUS)
    ]


def condensed(run_id: str | None) -> Rows:
    """What is kept of the same samples, and of a supply that is no GPU."""
    watts: dict[int, list[float]] = {}
    for row in sampled():
        watts.setdefault(row["time_ns"], []).append(row["power_instant_w"])
    point = {"cluster": "pod", "run_id": run_id, "grid_ns": GRID}
    points = [
        point
        | {
            "level": level,
            "semantics": "instant",
            "time_ns": time,
            "low_w": min(drawn) * factor,
            "high_w": max(drawn) * factor,
            "sampled_w": sum(drawn) * factor,
            "readings_count": len(drawn),
        }
        for time, drawn in watts.items()
        for level, factor in (("gpu_board", 1.0), ("node_ac", 9.0))
    ]
    days = [
        {
            "cluster": "pod",
            "host": f"node-{gpu // 2}",
            "gpu_uuid": f"GPU-{gpu}",
            "level": "gpu_board",
            "first_ns": FIRST,
            "last_ns": FIRST + 199 * GRID,
        }
        for gpu in range(GPUS)
    ]
    return {FleetPower: points, PowerDays: days}


def chart(rows: Rows, scope: Scope) -> Chart:
    runs = [{"run_id": RUN, "start_ns": START, "end_ns": START + 200 * GRID}]
    paid = [{"run_id": RUN, "gpu_ns": Decimal(HOUR)}]
    content = energy.build(framed({**rows, Runs: runs, LostTime: paid}), scope)
    (found,) = (one for one in content.charts if one.name == "energy-power")
    return found


@pytest.mark.parametrize("run_id", [RUN, None])
def test_power_by_day_is_drawn_as_by_samples(run_id: str | None, scope: Scope) -> None:
    by_samples = chart({PowerSamples: sampled()}, scope)
    by_day = chart(condensed(run_id), scope)
    # 200 points in at most 120 bins: two of them each
    assert by_day.numbers.height == 100
    told, each = by_day.sample.split("; ")
    assert told == by_samples.sample.split("; ")[0] == f"4 GPUs during run {RUN}"
    assert each.replace("\u202f", " ") == "a point holds 10.0 s"
    assert "each 5.00 s of all GPUs is one row" in by_day.about.definition.replace(
        "\u202f", " "
    )
    # AND each bin is what its samples are
    width = 2 * GRID
    watts = pl.col("power_instant_w")
    expected = (
        pl.DataFrame(sampled())
        .group_by(from_ns=pl.col("time_ns") // width * width)
        .agg(low_w=watts.min(), mean_w=watts.mean(), high_w=watts.max())
        .sort("from_ns")
    )
    assert_frame_equal(by_day.numbers, expected)


def test_the_query_gives_the_numbers(scope: Scope) -> None:
    import duckdb

    rows = condensed(RUN)
    found = chart(rows, scope)
    with duckdb.connect() as catalog:
        catalog.register("fleet_power", framed(rows)[FleetPower].collect().to_arrow())
        told = catalog.sql(found.sql).pl()
    assert_frame_equal(told, found.numbers)


def test_nodes_of_condensed_clusters_are_not_said_to_lack_power(scope: Scope) -> None:
    gpus: list[dict[str, Any]] = [
        {"run_id": RUN, "host": f"node-{number}"} for number in range(3)
    ]
    spot = _blind_inputs.unpowered(framed({Gpus: gpus, **condensed(RUN)}), scope)
    assert spot is not None
    assert spot.how_much.replace("\u202f", " ").startswith("1 of 3 nodes")


def test_a_page_reads_what_is_kept_of_power() -> None:
    assert {Energy, FleetPower, PowerDays} <= set(INPUTS)
