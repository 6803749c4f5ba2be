"""The pod's steps run again: two stages of four replicas, one worker slow."""

from analysis.replays import ReplayCells, Replays
from ingest.tables import Table
from tests.reports.builder import Row, S

#: Length of a step when all is alike. [ns]
IDEAL_NS = 2 * S

#: Slowdown by each stage and by each replica alone. [1]
STAGES = (1.0, 1.4)
DP_RANKS = (1.0, 1.3, 1.0, 1.01)

#: Slowdown by each kind alone. [1]
KINDS = {"forward-compute": 1.1, "backward-compute": 1.2, "forward-pp-comm": 0.99}


def replays(run: str) -> dict[type[Table], list[Row]]:
    """Rows of a trace that was simulated and of one that could not be."""
    named: Row = {"run_id": run, "attempt": 0, "trace_id": "steps"}
    trace = named | {
        "verdict": "replayed",
        "steps_replayed": 5,
        "steps_passed_over": 0,
        "steps_left_out": 1,
        "replicas_left_out": 0,
        "operations_replayed": 800,
        "operations_left_out": 160,
        "stages": 2,
        "replicas": 4,
        "actual_ns": 2_650_000_000,
        "simulated_ns": 2_600_000_000,
        "ideal_ns": IDEAL_NS,
        "slowdown_ratio": 1.3,
        "waste_ratio": 1 - 1 / 1.3,
        "m_w_ratio": 1.0,
        "m_s_ratio": 1.1,
        "fidelity_ratio": 0.05 / 2.65,
        "is_reliable": True,
        "correlation": 0.1,
        "cause": "worker",
        "evidence": "passes of dp 1 stage 1 (rank 5) take 1.50 times as long",
    }
    unfit = {
        **named,
        "trace_id": "other",
        "verdict": "not_replayable",
        "reason": "the start of some operations is not told",
        "steps_replayed": 0,
        "steps_passed_over": 0,
        "steps_left_out": 3,
        "replicas_left_out": 0,
        "operations_replayed": 0,
        "operations_left_out": 30,
    }
    return {Replays: [trace, unfit], ReplayCells: [named | row for row in _cells()]}


def _cells() -> list[Row]:
    told: list[tuple[str, Row, float]] = [
        *[("kind", {"kind": kind}, ratio) for kind, ratio in KINDS.items()],
        *[("stage", {"pp_rank": n}, ratio) for n, ratio in enumerate(STAGES)],
        *[("dp_rank", {"dp_rank": n}, ratio) for n, ratio in enumerate(DP_RANKS)],
    ]
    for stage, by_stage in enumerate(STAGES):
        for replica, by_replica in enumerate(DP_RANKS):
            rank = stage * len(DP_RANKS) + replica
            seat = {"pp_rank": stage, "dp_rank": replica, "rank": rank}
            told.append(("worker", seat, min(by_stage, by_replica)))
    return [
        {
            "scope": scope,
            **named,
            "slowdown_ratio": ratio,
            "simulated_ns": round(ratio * IDEAL_NS),
        }
        for scope, named, ratio in told
    ]
