"""One row per run and number of flows: what hashing them over equal paths costs."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._flow_collide import Collisions, collide
from analysis._plan_cost import HOUR_S
from analysis._plan_fabric import FLOWS_PER_PAIR
from analysis.plans import Plans
from ingest.tables import RunCards, Table
from ingest.tables import _columns as c
from ingest.times import SECOND_NS

#: Lines of a plan that collisions are weighed with: time on the wire, and GPUs.
_LINES: Final = ("data_time", "hour")

#: Longest tail that a column holds. [ns]
_LONGEST_NS: Final = 2**63 - 1


class FlowCollisions(Table):
    """One row per run and number of flows that a pair of ports is split into."""

    key: ClassVar = ("run_id", "flows_per_pair")

    run_id = c.identifier("Run of the run card.")
    flows_per_pair = c.number("Flows that a pair is split into.")
    pairs = c.number("Pairs of ports that send at once.", nullable=True)
    paths = c.number("Equal paths that flows are hashed over.", nullable=True)
    method = c.choice(
        "How the distribution was had; none where inputs are missing or too large.",
        ("exact", "simulated", "none"),
    )
    mean_flows = c.real("Flows of a path on average.", nullable=True)
    expected_flows = c.real("Flows expected on the fullest path.", nullable=True)
    p99_flows = c.real("The same in the worst of 100 hashes.", nullable=True)
    expected_ratio = c.ratio(
        "Expected load of the fullest path over the mean.", nullable=True
    )
    p99_ratio = c.ratio("The same in the worst of 100 hashes.", nullable=True)
    error_ratio = c.ratio(
        "Standard error of the expectation; zero where exact.", nullable=True
    )
    slowdown_ratio = c.ratio(
        "Expected time of the slowest flow over that with even paths, where a path"
        " carries as much as a port.",
        nullable=True,
    )
    slowdown_p99_ratio = c.ratio("The same in the worst of 100 hashes.", nullable=True)
    tail_ns = c.duration_ns(
        "What that adds to a step's data-parallel traffic if none of it hides.",
        nullable=True,
    )
    tail_gpu_ns = c.gpu_time_ns("GPU time that a step loses to it.", nullable=True)
    reason = c.text("What is missing for a number.")


def collide_flows(frames: Frames) -> pl.DataFrame:
    """Work out how full the fullest path gets, with one flow for each pair and more.

    Args:
        frames: Run cards, and plans for the time of data-parallel traffic.

    Returns:
        A row per run and number of flows: 1, 16 and what the card says.
    """
    lines = frames[Plans].filter(pl.col("name").is_in(_LINES)).collect()
    values = {
        (run, name): value
        for run, name, value in lines.select("run_id", "name", "value").iter_rows()
    }
    cards = frames[RunCards].sort("run_id").collect()
    rows = [
        row
        for card in cards.iter_rows(named=True)
        for row in _rows(card, *(values.get((card["run_id"], one)) for one in _LINES))
    ]
    schema = FlowCollisions.create_empty().schema
    found = pl.DataFrame(rows, schema=schema).sort(FlowCollisions.key)
    return FlowCollisions.validate(found, cast=True)


def _rows(
    card: dict[str, Any], data_s: float | None, hour_gpu_s: float | None
) -> Iterator[dict[str, Any]]:
    own = card["fabric_flows_per_pair"]
    paths = card["fabric_paths"]
    pairs = card["fabric_pairs"] or card["fabric_gpus_per_rack"]
    for flows in sorted({*FLOWS_PER_PAIR, own or 1}):
        head = {"run_id": card["run_id"], "flows_per_pair": flows}
        told = head | {"pairs": pairs, "paths": paths, "method": "none"}
        missing = _missing(pairs, paths)
        if missing:
            yield told | {"reason": missing}
            continue
        found = collide(pairs, paths, flows)
        yield told | _measures(found) | _tail(found, data_s, hour_gpu_s)


def _missing(pairs: int | None, paths: int | None) -> str | None:
    names = {"fabric.pairs or fabric.gpus_per_rack": pairs, "fabric.paths": paths}
    missing = [name for name, value in names.items() if value is None]
    return f"not told: {', '.join(missing)}" if missing else None


def _measures(found: Collisions) -> dict[str, Any]:
    names = ("method", "mean_flows", "expected_flows", "p99_flows", "expected_ratio")
    rest = ("p99_ratio", "error_ratio", "slowdown_ratio", "slowdown_p99_ratio")
    reason = found.said if found.method == "none" else None
    return {name: getattr(found, name) for name in (*names, *rest)} | {"reason": reason}


def _tail(
    found: Collisions, data_s: float | None, hour_gpu_s: float | None
) -> dict[str, Any]:
    """Return what the slowest flow adds to a step, in time and GPU time."""
    if found.slowdown_ratio is None:
        return {}
    if data_s is None or hour_gpu_s is None:
        return {"reason": "time of data-parallel traffic is not told: see plans"}
    tail_ns = data_s * (found.slowdown_ratio - 1) * SECOND_NS
    gpu_ns = tail_ns * hour_gpu_s / HOUR_S
    if max(tail_ns, gpu_ns) > _LONGEST_NS:
        return {"reason": "time of data-parallel traffic is out of range"}
    return {"tail_ns": round(tail_ns), "tail_gpu_ns": Decimal(round(gpu_ns))}


def _compute(frames: Frames, _: Thresholds) -> Results:
    return {FlowCollisions: collide_flows(frames)}


ANALYSIS: Final = Analysis(
    name="flow_collisions",
    version=1,
    describes="How unevenly hashing spreads flows over equal paths, and its cost",
    inputs=(RunCards, Plans),
    needs=(RunCards,),
    outputs=(FlowCollisions,),
    compute=_compute,
)
