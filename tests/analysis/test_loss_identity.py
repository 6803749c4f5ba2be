"""Phases of losses add up to the ledger, whatever the run."""

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from ingest.tables import Failures, Jobs, RunCards, StepTimings
from tests.analysis.ledgers import Row, Tables, rows
from tests.analysis.losses import check_phases_add_up, lost
from tests.analysis.test_loss_phases import failures, xid

instant = st.integers(0, 60)
made_jobs = st.lists(
    st.fixed_dictionaries(
        {
            "job_id": st.sampled_from(["1", "2", "3"]),
            "start_ns": st.none() | instant,
            "submit_ns": st.none() | instant,
            "end_ns": st.none() | instant,
            "gpu_count": st.none() | st.integers(1, 4),
            "state": st.sampled_from(["FAILED", "COMPLETED", "CANCELLED", "PREEMPTED"]),
            "hosts": st.sampled_from(["a", "a,b"]),
        }
    ),
    max_size=5,
)
made_steps = st.lists(
    st.fixed_dictionaries(
        {
            "rank": st.integers(0, 2),
            "step": st.integers(0, 5),
            "start_ns": instant,
            "duration_ns": st.integers(0, 20),
            "attempt": st.none() | st.integers(0, 2),
            "scope": st.sampled_from(["rank", "rank", "rank", "run_mean"]),
        }
    ),
    max_size=12,
)
made_failures = st.lists(st.integers(0, 60), max_size=3, unique=True)
cards = st.sampled_from([None, {"billing": "reserved", "reserved_gpus": 3}])


Run = tuple[list[Row], list[Row], list[int], Row | None]

runs = st.tuples(made_jobs, made_steps, made_failures, cards)


def check(run: Run) -> None:
    of_jobs, log, signs, card = run
    told = [xid(0) | {"time_ns": at} for at in signs]
    tables: Tables = {
        Jobs: rows(Jobs, *of_jobs),
        StepTimings: rows(StepTimings, *log),
        Failures: failures(*told),
        RunCards: rows(RunCards, *([card] if card else [])),
    }
    check_phases_add_up(lost(tables))


@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(runs)
def test_phases_add_up_whatever_the_run(run: Run) -> None:
    check(run)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(runs)
def test_phases_add_up_whatever_the_run_at_length(run: Run) -> None:
    check(run)
