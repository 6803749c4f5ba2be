"""How often the pod is interrupted, by hand: gaps, peers, weeks, lemons, spares."""

from decimal import Decimal
from math import exp

from analysis.interruption_gaps import InterruptionGapFits, InterruptionGaps
from analysis.lemon_nodes import LemonNodes
from analysis.rate_changes import RateChanges
from analysis.rate_comparisons import RateComparisons
from analysis.rate_projections import RateProjections
from analysis.spare_plans import SparePlans
from ingest.tables import Table
from tests.reports.builder import HOSTS, HOUR, START, Row

#: Hours of the gaps between stops, each ended once.
GAPS = (2, 5, 9, 14, 20, 27)


def rate_tables(run: str) -> dict[type[Table], list[Row]]:
    """All that a page of rates reads, beside the rates."""
    own = {
        "cluster": "pod-a",
        "run_id": run,
        "scope": "run",
        "scope_id": run,
        "level": "interruption",
    }
    return {
        InterruptionGaps: [own | gap(number) for number in range(len(GAPS))],
        InterruptionGapFits: [own | FIT],
        RateComparisons: [
            own | {"peer": peer, "peer_per_1000_node_days": rate, "verdict": verdict}
            for peer, rate, verdict in PEERS
        ],
        RateChanges: [own | week(number) for number in (1, 2)],
        RateProjections: [size(gpus) for gpus in (8, 1024, 131_072)],
        LemonNodes: [LEMON | {"run_id": run}, OTHER],
        SparePlans: [
            spare(run, case, spares)
            for case in ("low", "estimate", "high")
            for spares in range(4)
        ],
    }


PEERS = (
    ("Meta RSC-1, A100", 6.50, "not_told_apart"),
    ("Llama 3, H100", 3.79, "higher"),
)

FIT = {
    "gap_count": 6,
    "weibull_shape": 0.72,
    "weibull_shape_low": 0.4,
    "weibull_shape_high": 0.95,
    "exponential_p_value": 0.004,
    "trend_p_value": 0.4,
    "verdict": "clustered",
    "has_trend": False,
}


def gap(number: int) -> Row:
    share = 1 - (number + 1) / len(GAPS)
    return {
        "gap_ns": Decimal(GAPS[number] * HOUR),
        "at_risk_count": len(GAPS) - number,
        "ended_count": 1,
        "survival_ratio": share,
        "low_survival_ratio": share * 0.6 if share else None,
        "high_survival_ratio": min(1.0, share * 1.3) if share else None,
        "exponential_ratio": exp(-GAPS[number] / 13),
    }


def week(number: int) -> Row:
    return {
        "category": "all",
        "comparison": "week",
        "part": f"2026-W4{6 + number}",
        "change_ns": START,
        "until_ns": START + 168 * HOUR,
        "rate_ratio": 2.4,
        "q_value": 0.002 * number**10,
        "verdict": "rose" if number == 1 else "not_told_apart",
    }


def size(gpus: int) -> Row:
    return {
        "cluster": "pod-a",
        "level": "interruption",
        "gpus": gpus,
        "nodes": gpus // 8,
        "count": 6,
        "mtbf_ns": Decimal(1000 * HOUR // gpus),
        "mtbf_low_ns": Decimal(500 * HOUR // gpus),
        "mtbf_high_ns": Decimal(2000 * HOUR // gpus),
        "peer_mtbf_ns": Decimal(round(7.9 * HOUR)) if gpus == 1024 else None,
        "peer_basis": "measured" if gpus == 1024 else None,
    }


LEMON = {
    "cluster": "pod-a",
    "host": HOSTS[1],
    "failures": 12,
    "exposure_ns": Decimal(720 * HOUR),
    "expected": 0.51,
    "p_value": 2.5e-7,
    "threshold_p_value": 0.05 / 40,
    "is_lemon": True,
    "fleet_nodes": 40,
    "fleet_failures": 32,
    "fleet_variation_ratio": 0.35,
    "interruptions": 3,
    "lost_gpu_ns": Decimal(500 * HOUR),
    "causes": "xid 79 (11), xid 74 (1)",
    "gpu_keys": "GPU-0007-aaaa-bbbb (12)",
}

OTHER = LEMON | {
    "host": HOSTS[0],
    "failures": 1,
    "p_value": 0.4,
    "is_lemon": False,
    "interruptions": 0,
    "lost_gpu_ns": Decimal(0),
    "causes": "xid 48 (1)",
    "gpu_keys": None,
}


def spare(run: str, case: str, spares: int) -> Row:
    waiting = (40, 12, 3, 1)[spares]
    return {
        "cluster": "pod-a",
        "run_id": run,
        "rate_case": case,
        "spares": spares,
        "nodes": 2,
        "failures": 32,
        "node_time_ns": Decimal(28_800 * HOUR),
        "repair_ns": Decimal(48 * HOUR),
        "repair_basis": "failures",
        "in_repair": 0.8,
        "spare_free_ratio": (0.0, 0.45, 0.81, 0.95)[spares],
        "daily_waiting_gpu_ns": Decimal(waiting * 8 * HOUR),
        "daily_idle_gpu_ns": Decimal(spares * 8 * 24 * HOUR),
        "daily_cost_gpu_ns": Decimal((waiting + 24 * spares) * 8 * HOUR),
        "is_best": spares == (2 if case == "high" else 1),
        "is_held": False,
    }
