"""Steps of a generated cluster: any window alone, parts that add up, known noise."""

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from ingest.synthetic.cluster._work import seats
from ingest.synthetic.cluster.cluster import Cluster, cluster_of
from ingest.synthetic.cluster.scenario import (
    Calendar,
    Fault,
    Fleet,
    Layout,
    Noise,
    Scenario,
    Schedule,
)
from ingest.synthetic.cluster.steps import frame_of, step_windows, usual_window
from ingest.tables import StepTimings

ALWAYS = (0, 2**62)

HOT = Fault(kind="slow_gpu", rank=3, from_step=40, steps=60, severity=1.3)
FAR = Fault(kind="slow_link", rank=9, from_step=80, steps=50, severity=3.0)
LATE = Fault(kind="data_stall", host=0, from_step=100, steps=30, severity=2.0)
HUNG = Fault(kind="hang", rank=12, from_step=130)


def small(seed: int = 1, **changed: object) -> Scenario:
    """16 ranks whose steps take 200 s: 432 of them in a day."""
    fields: dict[str, object] = {
        "schedule": Schedule(step_s=200.0, data_s=0.5),
        "noise": Noise(gc_every=20, gc_s=5.0, outliers=0.05, first_step_s=100.0),
        "faults": (HOT, FAR, LATE, HUNG),
    }
    fields |= changed
    layout = Layout(tp=2, pp=2, dp=4)
    return Scenario(seed=seed, fleet=Fleet(hosts=2), layout=layout, **fields)  # type: ignore[arg-type]


def rows(cluster: Cluster, window_steps: int | None = None) -> pl.DataFrame:
    windows = step_windows(cluster, *ALWAYS, window_steps)
    return pl.concat([frame_of(window) for window in windows])


def test_a_seed_gives_the_same_rows_and_another_seed_others() -> None:
    first, again = rows(cluster_of(small())), rows(cluster_of(small()))
    assert_frame_equal(first, again)
    assert not first.equals(rows(cluster_of(small(seed=2))))


def test_a_window_alone_is_that_of_the_sequence() -> None:
    cluster = cluster_of(small())
    whole = rows(cluster)
    assert_frame_equal(rows(cluster, 7), whole)
    starts = whole["start_ns"].unique().sort()
    bounds = (starts[61], starts[64])
    alone = pl.concat([frame_of(one) for one in step_windows(cluster, *bounds)])
    is_there = pl.col("start_ns").is_between(*bounds, closed="left")
    assert_frame_equal(alone, whole.filter(is_there))


def test_windows_of_more_ranks_have_fewer_steps() -> None:
    """About four million rows, of whole blocks of 50 steps."""
    sizes = {ranks: usual_window(ranks) for ranks in (1, 16_384, 32_768, 131_072)}
    assert sizes == {1: 250, 16_384: 250, 32_768: 100, 131_072: 50}


def test_a_longer_calendar_begins_alike() -> None:
    short = rows(cluster_of(small(faults=(HOT,))))
    longer = rows(cluster_of(small(faults=(HOT,), calendar=Calendar(days=2))))
    assert_frame_equal(longer.head(short.height), short)


def test_rows_are_those_of_the_table_in_the_order_of_its_key() -> None:
    found = rows(cluster_of(small())).with_columns(file_id=pl.lit("f"))
    table = StepTimings.validate(found.select(StepTimings.column_names()))
    assert_frame_equal(table, table.sort(StepTimings.key))


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32),
    sizes=st.sampled_from([(1, 1, 1), (2, 1, 2), (1, 3, 2), (2, 2, 3)]),
    order=st.permutations(["tp", "cp", "pp", "dp"]),
    sequence_sd=st.sampled_from([0.0, 0.05]),
    faulty=st.booleans(),
)
def test_parts_add_up_and_the_slowest_does_not_wait(
    seed: int,
    sizes: tuple[int, int, int],
    order: list[str],
    sequence_sd: float,
    faulty: bool,
) -> None:
    tp, pp, dp = sizes
    ranks = tp * pp * dp
    fault = Fault(kind="slow_gpu", rank=ranks - 1, from_step=3, steps=9, severity=1.5)
    scenario = Scenario(
        seed=seed,
        fleet=Fleet(hosts=ranks, gpus_per_node=1),
        layout=Layout(tp=tp, pp=pp, dp=dp, order=tuple(order)),  # type: ignore[arg-type]
        schedule=Schedule(step_s=500.0, checkpoint_every=7),
        noise=Noise(sequence_sd=sequence_sd, gc_every=5, gc_s=9.0, outliers=0.1),
        faults=(fault,) if faulty else (),
    )
    for window in step_windows(cluster_of(scenario), *ALWAYS, 50):
        parts = window.compute + window.communication + window.data
        parts = parts + window.checkpoint + window.wait
        assert (parts <= window.duration).all()
        assert (window.wait.min(axis=1) == 0).all()
        ends = window.start + window.duration
        assert (ends == ends[:, :1]).all()
        assert (window.start[1:, 0] == ends[:-1, 0]).all()


def test_seats_of_a_layout() -> None:
    # ranks of tp 2 x dp 2 x pp 2, in that order: pp changes slowest
    layout = Layout(tp=2, pp=2, dp=2, order=("tp", "cp", "dp", "pp"))
    assert seats(layout, "tp").tolist() == [0, 1] * 4
    assert seats(layout, "dp").tolist() == [0, 0, 1, 1] * 2
    assert seats(layout, "pp").tolist() == [0] * 4 + [1] * 4


def test_steps_differ_as_those_of_real_runs() -> None:
    # a core of 0.9 % and 6.6 % of long steps, most of a fixed 1.4 times: as measured
    noise = Noise(
        common_cv=0.009,
        outliers=0.066,
        fixed_share=0.9,
        fixed_ratio=0.43,
        diurnal=0.0,
        first_step_s=0.0,
    )
    schedule = Schedule(step_s=5.0, communication_share=0.0, idle_share=0.0)
    fleet, layout = Fleet(hosts=8), Layout(tp=8, dp=8)
    scenario = Scenario(fleet=fleet, layout=layout, schedule=schedule, noise=noise)
    (attempt,) = cluster_of(scenario).attempts
    took = attempt.clock.duration - attempt.clock.checkpoint
    ratio = took / np.median(took)
    core = ratio[abs(ratio - 1) < 0.1]
    assert abs(np.median(took) / 5e6 - 1) < 0.002
    assert abs(core.std() / core.mean() - 0.0092) < 0.001
    assert abs((ratio > 1.3).mean() - 0.066 * 0.92) < 0.006


def test_ranks_differ_for_ever_and_resemble_their_last_step() -> None:
    noise = Noise(
        rank_cv=0.004,
        persistent_sd=0.003,
        autocorrelation=0.4,
        common_cv=0.0,
        outliers=0.0,
        diurnal=0.0,
    )
    fleet, layout = Fleet(hosts=32), Layout(tp=8, dp=32)
    schedule = Schedule(step_s=100.0)
    scenario = Scenario(fleet=fleet, layout=layout, schedule=schedule, noise=noise)
    windows = step_windows(cluster_of(scenario), *ALWAYS)
    work = np.concatenate([window.compute for window in windows]).astype(float)
    lasting = work.mean(axis=0)
    own = work / lasting - 1
    assert abs(lasting.std() / lasting.mean() - 0.003) < 0.0005
    assert abs(own.std() - 0.004) < 0.0002
    resembling = (own[1:] * own[:-1]).mean() / own.var()
    # a block of 50 steps begins anew: 49 of 50 pairs resemble each other
    assert abs(resembling - 0.4 * 0.98) < 0.02
