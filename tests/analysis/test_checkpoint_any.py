"""Plans, replays and bursts of any evidence: no crash, shares between 0 and 1."""

from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.attempts import Attempts
from analysis.checkpoint_bursts import CheckpointBursts, find_bursts
from analysis.checkpoint_evidence import CheckpointEvidence
from analysis.checkpoint_plans import (
    CheckpointCurves,
    CheckpointPlans,
    plan_checkpoints,
)
from analysis.checkpoint_replays import CheckpointReplays, replay_runs
from analysis.interruptions import Interruptions
from tests.analysis.saving import attempt, evidence, frame, stop
from tests.examples import examples

Row = dict[str, Any]

#: From a nanosecond to a year, and nothing.
TIMES = st.one_of(
    st.none(), st.sampled_from([0, 1, 10**6]), st.integers(1, 31_536_000 * 10**9)
)
SIZES = st.one_of(st.none(), st.floats(1e-3, 1e5))

EVIDENCE = st.fixed_dictionaries(
    {
        **dict.fromkeys(
            (
                *("interval_ns", "stall_ns", "flush_ns", "step_ns", "mtbf_ns"),
                *("mtbf_low_ns", "mtbf_high_ns", "restart_ns", "downtime_ns"),
                "repair_ns",
            ),
            TIMES,
        ),
        **dict.fromkeys(("store_gbs", "local_gbs", "network_gbs"), SIZES),
        "bytes": st.one_of(st.none(), st.integers(0, 10**16)),
        "gpu_count": st.one_of(st.none(), st.integers(0, 200_000)),
        "node_count": st.one_of(st.none(), st.floats(0.1, 20_000)),
        "far_ratio": st.floats(0, 1),
        "mtbf_words": st.just("drawn"),
    }
)

#: Two tiers have two stalls.
TIERS = st.one_of(st.none(), st.tuples(st.integers(0, 10**12), st.integers(0, 10**12)))

STOPS = st.lists(
    st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.booleans()), max_size=6
)


def shares_hold(rows: pl.DataFrame, most: float = 1 + 1e-9) -> None:
    names = [name for name in rows.columns if name.endswith("waste_ratio")]
    for name in (*names, *({"ettr_ratio", "drawn_ratio"} & set(rows.columns))):
        known = rows[name].drop_nulls()
        assert known.is_finite().all()
        assert known.is_between(-1e-9, most).all(), name


@settings(max_examples=examples(40))
@given(EVIDENCE, TIERS)
def test_any_evidence_has_plans_or_reasons(
    told: Row, tiers: tuple[int, int] | None
) -> None:
    near, far = tiers or (None, None)
    row = evidence(**told, near_stall_ns=near, far_stall_ns=far)
    found = plan_checkpoints(row)
    plans = CheckpointPlans.validate(found[CheckpointPlans])
    curves = CheckpointCurves.validate(found[CheckpointCurves])
    bursts = CheckpointBursts.validate(find_bursts(row))
    for rows in (plans, curves, bursts):
        shares_hold(rows)
    silent = plans.filter(pl.col("waste_ratio").is_null())
    assert silent["reason"].null_count() == 0
    exact = plans.filter(pl.col("method") == "exact").row(0, named=True)
    if not curves.is_empty() and exact["waste_ratio"] is not None:
        least = curves["waste_ratio"].min()
        assert isinstance(least, float)
        assert exact["waste_ratio"] <= least + 1e-6


@given(EVIDENCE, STOPS)
def test_any_stops_can_be_replayed(
    told: Row, stops: list[tuple[int, int, bool]]
) -> None:
    clock, attempts, found = 0, [], []
    for number, (up, away, failed) in enumerate(stops):
        attempts.append(attempt(number, clock, clock + up))
        if failed:
            after = clock + up + away
            found.append(stop(number, clock + up, after, after))
        clock += up + away
    row = evidence(**told)
    rows = replay_runs(row, frame(Attempts, attempts), frame(Interruptions, found))
    CheckpointReplays.validate(rows)
    shares_hold(rows)
    CheckpointEvidence.validate(row)
