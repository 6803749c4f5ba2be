"""A history of stops, and all that is told of it, held against its own clock."""

from decimal import Decimal

import polars as pl
import pytest

from analysis.goodput import Goodput
from analysis.goodput_days import GoodputDays
from analysis.incidents import IncidentEvents
from analysis.interrupt_rates import InterruptRates
from analysis.interruptions import Interruptions
from analysis.loss_phases import LossPhases
from analysis.lost_time import LostTime
from ingest.synthetic.history import TABLE_5
from ingest.tables import Jobs
from tests.truth.histories import Told, analysed, whole
from tests.truth.money import JOBS_ALONE, RESERVED, by_sql, waterfall

pytestmark = pytest.mark.thorough

OUTPUTS = (
    *(LostTime, Interruptions, InterruptRates, Goodput, GoodputDays),
    *(LossPhases, IncidentEvents),
)

#: What is known of each stop, to the ns.
KNOWN = (
    *("attempt", "planned", "last_step_end_ns", "detected_ns", "decided_ns"),
    *("requeued_ns", "started_ns", "first_step_ns"),
)


@pytest.fixture(
    scope="module", params=["small", pytest.param("whole", marks=pytest.mark.slow)]
)
def told(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Told:
    """A history of three days, or the one of 54 days and 16,384 GPUs."""
    folder = tmp_path_factory.mktemp(request.param)
    made = analysed if request.param == "small" else whole
    return made(folder, (*OUTPUTS, Jobs))


def accounts(told: Told) -> dict[str, int]:
    rows = told[LostTime].group_by("category").agg(pl.col("gpu_ns").sum())
    return {name: int(ns) for name, ns in rows.iter_rows()}


def test_every_account_is_the_truth_to_the_nanosecond(told: Told) -> None:
    assert accounts(told) == told.truth["accounts_ns"]


def test_every_stop_is_found_with_its_times(told: Told) -> None:
    found = told[Interruptions].sort("attempt").select(KNOWN).to_dicts()
    assert found == [{name: one[name] for name in KNOWN} for one in told.truth["stops"]]


def test_every_stop_is_laid_to_its_cause(told: Told) -> None:
    found = told[Interruptions].sort("attempt")["cause"].to_list()
    for cause, one in zip(found, told.truth["stops"], strict=True):
        assert cause.endswith(f": {one['cause']}"), one["attempt"]


def test_steps_done_again_are_counted(told: Told) -> None:
    lost = told[Interruptions].filter(~pl.col("planned"))["lost_steps"].fill_null(0)
    assert lost.sum() == told.truth["steps_repeated"]
    planned = told[Interruptions].filter("planned")["lost_steps"].fill_null(0)
    assert planned.sum() == 0


def rates(told: Told, category: str) -> dict[str, int]:
    rows = told[InterruptRates].filter(
        pl.col("scope") == "run",
        pl.col("level") == "interruption",
        pl.col("category") != "planned",
    )
    sums = pl.col("component") == "all"
    is_whole = pl.col("category") == "all"
    wanted = rows.filter(sums & is_whole) if category == "all" else rows.filter(~sums)
    assert set(wanted["exposure_ns"]) == {Decimal(told.truth["exposure_ns"])}
    assert set(wanted["node_time_ns"]) == {Decimal(told.truth["node_time_ns"])}
    counts = wanted.group_by("component").agg(pl.col("count").sum())
    return dict(counts.iter_rows())


def test_rates_are_counts_over_the_time_that_attempts_ran(told: Told) -> None:
    assert rates(told, "each") == told.truth["stops_by_component"]
    unplanned = sum(told.truth["stops_by_component"].values())
    assert rates(told, "all") == {"all": unplanned}


def test_interval_of_all_stops_holds_the_rate_that_was_drawn(told: Told) -> None:
    row = told[InterruptRates].row(
        by_predicate=(pl.col("scope") == "run")
        & (pl.col("level") == "interruption")
        & (pl.col("category") == "all"),
        named=True,
    )
    mean = told.truth["exposure_ns"] / told.truth["unexpected_expected"]
    assert float(row["mtbf_low_ns"]) < mean < float(row["mtbf_high_ns"])


def test_goodput_is_that_of_the_truth(told: Told) -> None:
    (row,) = told[Goodput].to_dicts()
    truth = told.truth
    own = truth["accounts_ns"]
    trained = own["productive"] / truth["gpus"]
    wall, queue = truth["wall_ns"], truth["queue_ns"]
    assert (row["wall_ns"], row["queue_ns"]) == (wall, queue)
    assert row["ettr_ratio"] == pytest.approx(trained / wall)
    assert row["ettr_without_queue_ratio"] == pytest.approx(trained / (wall - queue))
    assert row["goodput_ratio"] == pytest.approx(own["productive"] / sum(own.values()))
    assert row["steps_kept"] == truth["steps_kept"]
    assert row["steps_repeated"] == truth["steps_repeated"]
    stops = sum(truth["stops_by_component"].values())
    assert row["interruptions_count"] == stops
    # 6 x 405e9 x 10,240 tokens over 989e12 x 60 s is 0.4193; a tenth of the steps has
    # a checkpoint of 5 s: over 1 + 0.1 x 5 / 60, it is 0.4159
    assert row["mfu_ratio"] == pytest.approx(0.4159, abs=0.001)


def test_days_add_up_to_the_run(told: Told) -> None:
    (row,) = told[Goodput].to_dicts()
    for name in ("paid_gpu_ns", "productive_gpu_ns", "restart_gpu_ns"):
        assert told[GoodputDays][name].sum() == row[name], name


def test_a_hang_before_detection_is_in_restart(told: Told) -> None:
    phases = told[LossPhases].filter(pl.col("account") == "restart")
    found = dict(phases.group_by("phase").agg(pl.col("gpu_ns").sum()).iter_rows())
    assert {name: int(ns) for name, ns in found.items()} == told.truth[
        "restart_parts_ns"
    ]
    assert sum(map(int, found.values())) == told.truth["accounts_ns"]["restart"]
    watched = [
        one for one in told.truth["stops"] if one["cause"] == "Network Switch/Cable"
    ]
    assert watched
    for one in watched:
        if one["last_step_end_ns"] is not None:
            assert one["detected_ns"] - one["last_step_end_ns"] >= 600 * 10**9


def test_money_is_that_of_the_jobs_and_of_what_stays_reserved(told: Told) -> None:
    total = waterfall(told[LostTime], told.truth["run_id"], "2.0")
    assert total == by_sql(told, RESERVED)
    assert total > by_sql(told, JOBS_ALONE)


def test_the_kernel_tells_of_the_same_faults_as_the_operators(told: Told) -> None:
    xids = {cause.name: str(cause.xid) for cause in TABLE_5 if cause.xid}
    faults = {
        (one["host"], xids[one["cause"]], one["detected_ns"])
        for one in told.truth["stops"]
        if one["cause"] in xids
    }
    events = told[IncidentEvents].filter(pl.col("source") == "xid")
    found = events.select("host", "code", "first_ns").rows()
    assert set(found) == faults
    assert len(found) == len(faults)
