"""A cluster that is generated: everything about it but the steps of its ranks."""

from dataclasses import dataclass

from ingest.synthetic.cluster.calendar import Attempt
from ingest.synthetic.cluster.faults import PlacedFault
from ingest.synthetic.cluster.fleet import Fleet
from ingest.synthetic.cluster.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster and its run.

    Attributes:
        scenario: What it is made of.
        fleet: Its hosts and GPUs.
        faults: What happens to it.
        attempts: Attempts of its run, each with the clock of its steps.
    """

    scenario: Scenario
    fleet: Fleet
    faults: tuple[PlacedFault, ...]
    attempts: tuple[Attempt, ...]


def cluster_of(scenario: Scenario) -> Cluster:
    """Make a cluster: its fleet, its faults, its calendar."""
    raise NotImplementedError(scenario)
