"""Days of power: the fast way and the general one keep the same."""

from typing import Final

import polars as pl
import pytest
from hypothesis import given, settings
from polars.testing import assert_frame_equal

from analysis import _power_roll, _power_roll_crowd
from analysis._energy_bridges import Bridges
from analysis._power_roll_crowd import Crowd
from analysis._power_roll_lots import Lot, Rolled
from tests.analysis.drawn_power import Cluster, clusters
from tests.examples import examples

#: Milliwatts, microjoules and millijoules are kept: each may be rounded the other way
#: where sums were taken in another order.
ROUNDED: Final = 0.0011


def not_dense(
    lot: Lot, bridges: Bridges, crowd: Crowd
) -> tuple[Rolled | None, pl.Series]:
    """Leave all devices to the general way."""
    return None, lot.devices["device"]


def in_joules(rows: pl.DataFrame) -> pl.DataFrame:
    millijoules = [name for name in rows.columns if name.endswith("_mj")]
    return rows.with_columns(pl.col(millijoules) / 1_000)


def assert_alike(one: pl.DataFrame, other: pl.DataFrame, devices: int) -> None:
    assert_frame_equal(
        in_joules(one),
        in_joules(other),
        check_exact=False,
        rel_tol=0,
        abs_tol=ROUNDED * devices,
    )


@pytest.mark.thorough
@settings(max_examples=examples(60))
@given(clusters())
def test_arrays_keep_what_the_general_way_does(cluster: Cluster) -> None:
    fast = cluster.days()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_power_roll, "dense", not_dense)
        general = cluster.days()
    # AND what devices draw together is told whenever there are two kinds of times
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_power_roll_crowd.Crowd.settle, "__defaults__", (1,))
        settled = cluster.days()
    devices = cluster.samples["gpu_uuid"].n_unique()
    for day, ways in zip(fast, zip(general, settled, strict=True), strict=True):
        for table, rows in day.items():
            sums = devices if table.sql_name() == "fleet_power" else 1
            for other in ways:
                assert_alike(rows, other[table], sums)
