"""The page says of which runs and clusters days were analysed, not rows."""

from analysis.energy_checks import EnergyChecks
from analysis.power_days import PowerDays
from analysis.runs import Runs
from analysis.step_rollups import StepRollups
from reports import _blind_condensed
from reports._section import Scope
from tests.reports.builder import Rows, framed, prices_of, provenance_of


def scope_of(*run_ids: str) -> Scope:
    return Scope(prices_of(*run_ids), provenance_of(*run_ids))


def test_runs_and_clusters_are_named_with_what_is_lost() -> None:
    rows: Rows = {
        StepRollups: [{"run_id": "b"}, {"run_id": "a"}, {"run_id": "b"}],
        PowerDays: [{"cluster": "pod"}],
    }
    spot = _blind_condensed.condensed(framed(rows), scope_of())
    assert spot is not None
    assert spot.how_much.startswith("steps of a and b are condensed by day: ")
    assert "not what a rank took in a single step" in spot.how_much
    assert "; power of pod is condensed by day: " in spot.how_much


def test_a_page_of_one_run_names_no_other() -> None:
    rows: Rows = {StepRollups: [{"run_id": "b"}, {"run_id": "a"}], PowerDays: []}
    spot = _blind_condensed.condensed(framed(rows), scope_of("a"))
    assert spot is not None
    assert "steps of a are condensed" in spot.how_much
    assert _blind_condensed.condensed(framed(rows), scope_of("c")) is None


def test_what_power_by_day_cannot_tell_is_said() -> None:
    unsure = {"quality": "slow_scrape,by_hours", "verdict": "not_comparable"}
    rows: Rows = {
        PowerDays: [{"cluster": "pod"}],
        EnergyChecks: [
            *[unsure | {"window": f"w{number}"} for number in range(3)],
            {"quality": "by_hours", "verdict": "agrees"},
            {"quality": "no_samples", "verdict": "not_comparable"},
        ],
        Runs: [
            {"run_id": "raw", "cluster": "pod"},
            {"run_id": "rolled", "cluster": "pod"},
            {"run_id": "elsewhere", "cluster": "other"},
        ],
        StepRollups: [{"run_id": "rolled"}],
    }
    spot = _blind_condensed.condensed(framed(rows), scope_of())
    assert spot is not None
    told = spot.how_much.replace("\u202f", " ")
    assert "too coarse to hold 3 windows against" in told
    assert "why ranks of raw are slow" in told
