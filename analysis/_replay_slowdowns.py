"""How much slower than ideal steps are, and by which kind, stage, replica and worker.

Formulas (1), (2), (4) and (5) of arXiv 2505.05713: S = T / T_ideal, both simulated;
S_t with all ideal but kind t; S_w of a worker as the smaller of the slowdowns by its
replica and its stage; M as the share of the slowdown that goes when some are ideal.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._replay_scenarios import Lengths, Mask, Scenarios

#: Share of workers that are counted as the slowest (arXiv 2505.05713, section 5.1). [1]
SLOWEST: Final = 0.03

#: Kinds that are told together: a transfer has two ends.
_TOGETHER: Final = {
    "forward-send": "forward-pp-comm",
    "forward-recv": "forward-pp-comm",
    "backward-send": "backward-pp-comm",
    "backward-recv": "backward-pp-comm",
}

#: Scope of a slowdown, by the column that names what is not ideal.
_SCOPES: Final = {"kind": "kind", "pp_rank": "stage", "dp_rank": "dp_rank"}

#: Columns of a slowdown by scope.
CELL: Final = {
    "scope": pl.String,
    "kind": pl.String,
    "pp_rank": pl.Int32,
    "dp_rank": pl.Int32,
    "rank": pl.Int32,
    "simulated_ns": pl.Int64,
    "slowdown_ratio": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class Slowdowns:
    """What a replay tells of a trace.

    Attributes:
        scenarios: The lengths it was simulated with.
        steps: Length of every step, simulated with what was measured. [ns]
        ideal_ns: Length of a step in which all is ideal. [ns]
        cells: Slowdown by scope, columns of CELL.
        slowest: The slowest workers, some of the rows of `cells`.
        m_w: Share that goes with them; null where there is no slowdown. [1]
        m_s: Share that goes with the last stage; 0 of a single stage, null where the
            last stage is not in the trace. [1]
    """

    scenarios: Scenarios
    steps: Lengths
    ideal_ns: int
    cells: pl.DataFrame
    slowest: pl.DataFrame
    m_w: float | None
    m_s: float | None

    @property
    def ratio(self) -> float:
        """Slowdown of the mean step. [1]"""
        return float(self.steps.mean()) / self.ideal_ns

    def share(self, repaired: Lengths) -> float | None:
        """Return the share of the slowdown that is gone after a repair. [1]

        Args:
            repaired: Length of every step after it. [ns]
        """
        return _share(self.steps, repaired, self.ideal_ns)

    def of_scope(self, scope: str) -> pl.DataFrame:
        """Return the slowdowns of a scope, the largest first."""
        mine = self.cells.filter(pl.col("scope") == scope)
        by = ("kind", "pp_rank", "dp_rank")
        down = [True, *[False] * len(by)]
        return mine.sort("slowdown_ratio", *by, descending=down, nulls_last=True)


def slowdowns_of(scenarios: Scenarios) -> Slowdowns:
    """Simulate a trace as it was, ideal, and ideal but for one thing at a time."""
    steps, ideal_ns = scenarios.measured(), scenarios.ideal_ns()
    cells = _with_workers(scenarios, _cells(scenarios, ideal_ns))
    slowest = _slowest(cells)
    last = scenarios.stage == scenarios.stage.max()
    m_w = _share(steps, scenarios.keep(~workers_mask(scenarios, slowest)), ideal_ns)
    m_s = _share(steps, scenarios.keep_nodes(~last), ideal_ns)
    if scenarios.replay.doubts.stages:
        m_s = None
    elif last.all():
        m_s = 0.0
    return Slowdowns(scenarios, steps, ideal_ns, cells, slowest, m_w, m_s)


def _share(steps: Lengths, repaired: Lengths, ideal_ns: int) -> float | None:
    slowdown = float(steps.mean()) - ideal_ns
    if slowdown <= 0:
        return None
    return (float(steps.mean()) - float(repaired.mean())) / slowdown


def _cells(scenarios: Scenarios, ideal_ns: int) -> pl.DataFrame:
    """Simulate with each kind, each stage and each replica kept as it was."""
    names, stages = node_names(scenarios), scenarios.stage
    unknown = scenarios.replay.doubts.unknown_kinds()
    untold = {_TOGETHER.get(kind, kind) for kind in unknown}
    kept = [
        ("kind", name, scenarios.keep_nodes(names == name))
        for name in sorted(set(names.tolist()) - untold)
    ]
    kept += [
        ("pp_rank", stage, scenarios.keep_nodes(stages == stage))
        for stage in sorted(set(stages.tolist()))
    ]
    replicas = scenarios.replay.dp_ranks()
    alone = zip(replicas, scenarios.keep_replicas(), strict=True)
    kept += [("dp_rank", replica, steps) for replica, steps in alone]
    told = [
        {"scope": _SCOPES[name], name: value, "mean": float(steps.mean())}
        for name, value, steps in kept
    ]
    cells = pl.DataFrame(told, schema={**CELL, "mean": pl.Float64})
    mean = pl.col("mean")
    return cells.with_columns(
        simulated_ns=mean.round().cast(pl.Int64), slowdown_ratio=mean / ideal_ns
    ).select(*CELL)


def node_names(scenarios: Scenarios) -> npt.NDArray[np.str_]:
    """Return the kind of each node, both ends of a transfer under one name."""
    kinds = scenarios.replay.node_kinds()
    return np.array([_TOGETHER.get(kind, kind) for kind in kinds])


def _with_workers(scenarios: Scenarios, cells: pl.DataFrame) -> pl.DataFrame:
    """Add each worker: the smaller slowdown of its replica and its stage."""
    ratio, mean = "slowdown_ratio", "simulated_ns"
    replicas = cells.filter(pl.col("scope") == "dp_rank").select(
        "dp_rank", _ratio=ratio, _mean=mean
    )
    stages = cells.filter(pl.col("scope") == "stage").select("pp_rank", ratio, mean)
    seats = scenarios.replay.workers()
    joined = seats.join(replicas, on="dp_rank").join(stages, on="pp_rank")
    workers = joined.sort("dp_rank", "pp_rank").select(
        "pp_rank",
        "dp_rank",
        "rank",
        scope=pl.lit("worker"),
        kind=pl.lit(None, pl.String),
        simulated_ns=pl.min_horizontal(mean, "_mean"),
        slowdown_ratio=pl.min_horizontal(ratio, "_ratio"),
    )
    return pl.concat([cells, workers.select(*CELL)])


def _slowest(cells: pl.DataFrame) -> pl.DataFrame:
    workers = cells.filter(pl.col("scope") == "worker")
    ordered = workers.sort("slowdown_ratio", "rank", descending=[True, False])
    return ordered.head(-(-workers.height * round(100 * SLOWEST) // 100))


def workers_mask(scenarios: Scenarios, workers: pl.DataFrame) -> Mask:
    """Return where in the shape of a replay the operations of some workers are."""
    _, _, replicas, _ = scenarios.own.shape
    place = {rank: index for index, rank in enumerate(scenarios.replay.dp_ranks())}
    seats = np.zeros((int(scenarios.stage.max()) + 1, replicas), dtype=bool)
    for stage, replica in workers.select("pp_rank", "dp_rank").iter_rows():
        seats[stage, place[replica]] = True
    return seats[scenarios.stage].reshape(-1, 1, replicas, 1)
