"""The ledger of drawn histories is their own clock's, whatever was drawn."""

from collections.abc import Sequence
from typing import Any

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings

from analysis.lost_time import LostTime
from ingest.synthetic.history import History, Leg, history_truth, run_history
from ingest.tables import Jobs, RunCards, StepTimings
from tests.analysis.ledgers import Row, Tables, booked, job, rows, step
from tests.examples import examples

pytestmark = pytest.mark.thorough

histories = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "days": st.just(1),
        "nodes": st.integers(1, 3),
        "gpus_per_node": st.integers(1, 3),
        "spare_nodes": st.integers(0, 2),
        "is_reserved": st.booleans(),
        "unexpected": st.sampled_from([0, 3, 20, 80]),
        "planned": st.integers(0, 6),
        "step_s": st.sampled_from([60.0, 200.0, 900.0]),
        "checkpoint_every": st.sampled_from([1, 3, 10, 40]),
        "stall_s": st.sampled_from([0.0, 5.0, 50.0]),
    }
)


def tables_of(history: History, legs: Sequence[Leg]) -> Tables:
    """The jobs, the card and the step log of a history."""
    jobs = [
        job(leg.number, leg.start, leg.end, history.gpus)
        | {"submit_ns": leg.submitted, "state": "NODE_FAIL"}
        for leg in legs
    ]
    log = [
        step(None, one.number, one.start, one.end, checkpoint_ns=one.stall)
        for leg in legs
        for one in leg.steps
    ]
    card: Row = {"tp": history.gpus, "cp": 1, "pp": 1, "dp": 1, "ep": 1}
    if history.is_reserved:
        card |= {"billing": "reserved", "reserved_gpus": history.reserved}
    return {
        Jobs: rows(Jobs, *jobs),
        RunCards: rows(RunCards, card),
        StepTimings: rows(StepTimings, *log),
    }


def check(drawn: dict[str, Any]) -> None:
    history = History(**drawn)
    legs = run_history(history)
    # of a last attempt without a step the log may be missing: unattributed
    assume(legs[-1].steps)
    lost = booked(tables_of(history, legs))[LostTime].collect()
    sums = lost.group_by("category").agg(pl.col("gpu_ns").sum())
    found = {name: int(ns) for name, ns in sums.iter_rows()}
    truth = history_truth(history, legs)["accounts_ns"]
    assert found == {name: ns for name, ns in truth.items() if ns}


@settings(max_examples=examples(6), suppress_health_check=list(HealthCheck))
@given(histories)
def test_accounts_are_those_of_the_clock(drawn: dict[str, Any]) -> None:
    check(drawn)


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(histories)
def test_accounts_are_those_of_the_clock_at_length(drawn: dict[str, Any]) -> None:
    check(drawn)
