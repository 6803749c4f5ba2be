"""When the interval that would cost least is no advice."""

from typing import Any

import pytest

from analysis._checkpoint_advice import advised
from analysis.checkpoint_plans import CheckpointPlans, plan_checkpoints
from analysis.checkpoint_replays import CheckpointReplays
from ingest.times import DAY_NS
from tests.analysis.saving import S, evidence, frame

Row = dict[str, Any]


def withheld(replay: Row | None = None, **other: Any) -> dict[str, str | None]:
    """Why each method's interval is no advice."""
    rows = [] if replay is None else [{"run_id": "r", **replay}]
    found = plan_checkpoints(evidence(**other), frame(CheckpointReplays, rows))
    plans = CheckpointPlans.validate(found[CheckpointPlans])
    return {row["method"]: row["withheld"] for row in plans.iter_rows(named=True)}


def test_a_counted_rate_gives_advice() -> None:
    assert set(withheld().values()) == {None}


def test_a_rate_that_the_run_refutes_gives_none() -> None:
    for chance in (0.049, 1e-9):
        told = withheld(mtbf_source="card_rate", mtbf_chance_ratio=chance)
        assert "refute" in str(told["exact"])
        assert told["in_use"] is None
    fits = withheld(mtbf_source="card_rate", mtbf_chance_ratio=0.06)
    assert fits["exact"] is None


def test_an_interval_longer_than_the_run_is_none() -> None:
    # the best is about a thousand seconds
    assert "card plans" in str(withheld(planned_ns=100 * S)["exact"])
    assert withheld(planned_ns=10_000 * S)["exact"] is None
    assert "was seen" in str(withheld(seen_ns=100 * S)["young"])
    # a run that has just begun is meant to go on
    assert withheld(seen_ns=100 * S, planned_ns=DAY_NS)["exact"] is None


def test_few_interruptions_are_no_ground_where_the_sign_is_open() -> None:
    # an hour is too long for 10 000 s, and too short for 40 days
    wide: Row = {"mtbf_low_ns": 5000 * S, "mtbf_high_ns": 40 * DAY_NS}
    own = withheld(interval_ns=1500 * S, mtbf_source="own_weak", **wide)
    assert "save or lose" in str(own["exact"])
    assert withheld(interval_ns=1500 * S, mtbf_source="own", **wide)["exact"] is None
    sure = withheld(mtbf_source="own_weak", mtbf_high_ns=11_000 * S)
    assert sure["exact"] is None


@pytest.mark.parametrize(
    ("change", "error", "is_advice"),
    [(-0.1, 0.02, False), (-0.1, None, False), (-0.03, 0.02, True), (0.1, 0.02, True)],
)
def test_a_replay_that_loses_speaks_against_it(
    change: float, error: float | None, *, is_advice: bool
) -> None:
    replay = {
        "scenario": "best_interval",
        "change_ratio": change,
        "change_error_ratio": error,
    }
    told = withheld(replay)
    assert (told["exact"] is None) == is_advice
    assert is_advice or "replayed" in str(told["exact"])


def test_levels_are_held_to_the_ends_of_the_exact_optimum() -> None:
    ends = {"saved_low_gpu_ns_per_day": -1, "saved_high_gpu_ns_per_day": 1}
    run = evidence(mtbf_source="published").row(0, named=True)
    plans: list[Row] = [
        {"method": "in_use", "interval_ns": S},
        {"method": "exact", "interval_ns": S, **ends},
        {"method": "multi_level", "interval_ns": S},
    ]
    told = [row["withheld"] is None for row in advised(run, plans, None)]
    assert told == [True, False, False]
