"""Profiler traces of many ranks, each a real or made one moved in place and time."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from isal import igzip

from ingest.synthetic.cluster._trace_template import TracePlace, TraceTemplate
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.fleet import fleet_of
from ingest.synthetic.kineto import trace_lines
from ingest.synthetic.run import attempts_of
from ingest.synthetic.scenario import Scenario

__all__ = ["TracePlace", "TraceTemplate", "made_template", "places_of", "write_traces"]

#: How far from each other the clocks of two neighbouring nodes are in traces. [ns]
_CLOCK_NS: Final = 37_000

#: Process of the first rank of a node.
_PROCESS: Final = 40_000

#: Packing: the fastest, as profilers' callbacks choose it.
_LEVEL: Final = 1

#: Steps of the made trace.
_STEPS: Final = 3


def write_traces(
    folder: Path, template: TraceTemplate, places: Iterable[TracePlace]
) -> int:
    """Write a packed trace for each rank; return the bytes before packing. [B]"""
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for place in places:
        text = template.filled(place)
        packed: bytes = igzip.compress(text, compresslevel=_LEVEL, mtime=0)
        name = f"rank-{place.rank:05}.pt.trace.json.gz"
        (folder / name).write_bytes(packed)
        written += len(text)
    return written


def places_of(cluster: Cluster, start_ns: int, count: int) -> Iterator[TracePlace]:
    """Yield the places of some ranks, spread over a run, that are traced at a time.

    Args:
        cluster: The cluster.
        start_ns: When the first event of the first node starts. [ns]
        count: Ranks. [1]
    """
    ranks = cluster.scenario.ranks
    for rank in range(0, ranks, max(ranks // count, 1))[:count]:
        node, local = divmod(rank, cluster.scenario.fleet.gpus_per_node)
        host = cluster.fleet.hosts[node]
        ahead = node % 8 * _CLOCK_NS
        yield TracePlace(rank, ranks, _PROCESS + local, host, start_ns + ahead)


def made_template(seed: int, *, size: int, step: int = 0) -> TraceTemplate:
    """Return a template of a made trace, where no real one is given.

    Args:
        seed: Seed of its draws.
        size: Bytes that it is to have. [B]
        step: Number of its first step.
    """
    scenario = Scenario(
        seed=seed, planned_steps=_STEPS, failed_step=None, slow_rank=None
    )
    gpu = fleet_of(scenario)[0]
    (attempt,) = attempts_of(scenario)
    steps = [(number, attempt.steps[number][0]) for number in range(_STEPS)]
    text = "\n".join(trace_lines(scenario, gpu, steps)).encode()
    return TraceTemplate.of(text, size=size, step=step)
