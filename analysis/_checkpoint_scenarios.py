"""The questions that a run's own stops are replayed for."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from analysis._checkpoint_costs import Row, floor_ns
from analysis._checkpoint_intervals import Costs, exact_interval
from analysis._checkpoint_replayed import History, Replayed, replay, waits_for_nodes
from ingest.times import SECOND_NS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Spare nodes that are tried: from none to what few runs hold.
SPARES: Final = (0, 1, 2, 4)

#: Scenarios, in the order of the table.
SCENARIOS: Final = (
    "as_was",
    "best_interval",
    "half_interval",
    "double_interval",
    "half_restart",
    *(f"spares_{count}" for count in SPARES),
)


class Scenario(NamedTuple):
    """One way to run it again.

    Attributes:
        name: One of SCENARIOS.
        interval_s: Work between two saves. [s]
        costs: What the run pays, at its own mean times.
        spares: Spare nodes; None: as it was.
    """

    name: str
    interval_s: float
    costs: Costs
    spares: int | None = None


def scenarios_of(run: Row, costs: Costs) -> list[Scenario]:
    """Return the scenarios of a run, as it was first.

    The best interval is that of the run's own MTBF, source and all, as it would be
    planned with.

    Args:
        run: Row of CheckpointEvidence with interval, stall and MTBF.
        costs: What the run pays, at its own mean times.
    """
    used, least = run["interval_ns"] / SECOND_NS, floor_ns(run)[0] / SECOND_NS
    planned = replace(costs, mtbf_s=run["mtbf_ns"] / SECOND_NS)
    best = max(exact_interval(planned), least) or used
    halved = replace(costs, restart_s=costs.restart_s / 2)
    tried = [
        Scenario("as_was", used, costs),
        Scenario("best_interval", best, costs),
        Scenario("half_interval", max(used / 2, least), costs),
        Scenario("double_interval", used * 2, costs),
        Scenario("half_restart", used, halved),
    ]
    if run["repair_ns"] is None:
        return tried
    return [*tried, *(Scenario(f"spares_{n}", used, costs, n) for n in SPARES)]


class Played(NamedTuple):
    """A scenario that was replayed.

    Attributes:
        scenario: How it was run.
        replayed: What each stop left.
        away_s: Time away after each stop. [s]
        waited_s: Time that it waited for nodes, None where that is not in question. [s]
    """

    scenario: Scenario
    replayed: Replayed
    away_s: "NDArray[np.float64]"
    waited_s: float | None


def play(run: Row, history: History, scenario: Scenario) -> Played:
    """Replay a run's stops under a scenario.

    Where spares are in question, the time away is the median, that of a stop with a
    node at hand, and the wait for a node comes on top. Where later attempts tell how
    long a run lacked its nodes, the time away is what is left of it without that.

    Args:
        run: Row of CheckpointEvidence.
        history: The run's own stops.
        scenario: How to run it.
    """
    away, waited = history.away_s, None
    if scenario.spares is not None:
        away, waited = _with_spares(run, history, scenario.spares)
    told = replay(history, scenario.interval_s, scenario.costs, away)
    return Played(scenario, told, away, waited)


def _with_spares(
    run: Row, history: History, spares: int
) -> "tuple[NDArray[np.float64], float]":
    import numpy as np

    repair = run["repair_ns"] / SECOND_NS
    if run["repair_basis"] == "attempts":
        taken = history.is_failed & history.takes_node
        away = np.where(taken, (history.away_s - repair).clip(0), history.away_s)
    else:
        typical = (run["downtime_median_ns"] or run["downtime_ns"] or 0) / SECOND_NS
        away = np.where(history.is_failed, typical, history.away_s)
    waits = waits_for_nodes(history._replace(away_s=away), repair, spares)
    return away + waits, float(waits.sum())
