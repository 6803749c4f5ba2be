"""What is counted of clusters and runs, and the nodes it is held against."""

from typing import Final, NamedTuple

import polars as pl

from analysis._analysis import Frames
from analysis._held_nodes import held_nodes, known_clusters
from analysis._rate_things import things
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.incidents import IncidentEvents, Incidents
from analysis.interruptions import Interruptions
from analysis.runs import Runs

#: Tables that rates are made of.
INPUTS: Final = (Attempts, Gpus, Runs, Incidents, IncidentEvents, Interruptions)


class Seen(NamedTuple):
    """What was counted, and when it could be.

    Attributes:
        attempts: Rows of Attempts, their cluster known.
        nodes: What `held_nodes` returns.
        things: What `things` returns.
        runs: Rows of Runs.
    """

    attempts: pl.DataFrame
    nodes: pl.DataFrame
    things: pl.DataFrame
    runs: pl.DataFrame


def seen(frames: Frames) -> Seen:
    """Return what is counted, and the attempts and nodes that it is held against.

    Args:
        frames: The tables of INPUTS.
    """
    attempts = known_clusters(frames[Attempts], frames[Gpus]).collect()
    nodes = held_nodes(frames[Attempts], frames[Gpus]).collect()
    counted = things(
        frames[IncidentEvents].collect(),
        frames[Incidents].collect(),
        frames[Interruptions].collect(),
        attempts,
    )
    return Seen(attempts, nodes, counted, frames[Runs].collect())
