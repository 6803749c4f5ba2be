"""How the pod's run saves: each hour a stall of 30 s, and a best interval beside it."""

from decimal import Decimal

from analysis.checkpoint_bursts import CheckpointBursts
from analysis.checkpoint_evidence import CheckpointEvidence
from analysis.checkpoint_plans import CheckpointCurves, CheckpointPlans
from analysis.checkpoint_replays import CheckpointReplays
from ingest.tables import Table
from tests.reports.builder import HOUR, Row, S

DAY_GPU_NS = 8 * 24 * HOUR


def checkpoints(run: str) -> dict[type[Table], list[Row]]:
    """Evidence, plans, curve, replays and bursts of the run."""
    return {
        CheckpointEvidence: [_evidence(run)],
        CheckpointPlans: _plans(run),
        CheckpointCurves: _curve(run),
        CheckpointReplays: _replays(run),
        CheckpointBursts: _bursts(run),
    }


def _evidence(run: str) -> Row:
    return {
        "run_id": run,
        "gpu_count": 8,
        "node_count": 2.0,
        "step_ns": 3 * S,
        "save_count": 11,
        "failed_save_count": 1,
        "elsewhere_save_count": 0,
        "older_resume_count": 0,
        "interval_ns": HOUR,
        "interval_steps": 1200,
        "interval_basis": "saves",
        "stall_ns": 30 * S,
        "stall_basis": "saves",
        "flush_ns": 90 * S,
        "tiers_basis": "none",
        "far_ratio": 0.78,
        "far_basis": "published",
        "load_count": 1,
        "load_ns": 40 * S,
        "bytes": 128 * 10**9,
        "bytes_basis": "saves",
        "store_gbs": 2.0,
        "writer_count": 8,
        "interruption_count": 6,
        "downtime_ns": 300 * S,
        "downtime_median_ns": 120 * S,
        "restart_ns": 60 * S,
        "restart_median_ns": 60 * S,
        "restart_basis": "interruptions",
        "mtbf_ns": 4 * HOUR,
        "mtbf_low_ns": 2 * HOUR,
        "mtbf_high_ns": 11 * HOUR,
        "mtbf_source": "own",
        "mtbf_words": "6 interruptions of this run",
    }


def _plans(run: str) -> list[Row]:
    parts = ("restart_ratio", "rework_ratio", "write_ratio")
    used = dict(zip(parts, (0.025, 0.13, 0.007), strict=True))
    best = dict(zip(parts, (0.025, 0.035, 0.03), strict=True))
    return [
        {
            "run_id": run,
            "method": "in_use",
            "interval_ns": HOUR,
            "interval_steps": 1200,
            "waste_ratio": 0.162,
            "waste_low_ratio": 0.07,
            "waste_high_ratio": 0.3,
            "saved_gpu_ns_per_day": Decimal(0),
            **used,
        },
        {
            "run_id": run,
            "method": "exact",
            "interval_ns": 900 * S,
            "interval_steps": 300,
            "waste_ratio": 0.09,
            "waste_low_ratio": 0.05,
            "waste_high_ratio": 0.16,
            "limited_by": "cost",
            **best,
            "saved_gpu_ns_per_day": Decimal(DAY_GPU_NS) * Decimal("0.072"),
            "saved_low_gpu_ns_per_day": Decimal(DAY_GPU_NS) * Decimal("0.02"),
            "saved_high_gpu_ns_per_day": Decimal(DAY_GPU_NS) * Decimal("0.14"),
            "half_mtbf_ratio": 0.004,
            "double_mtbf_ratio": 0.004,
        },
        {"run_id": run, "method": "multi_level", "reason": "no two tiers are known"},
    ]


def _curve(run: str) -> list[Row]:
    return [
        {
            "run_id": run,
            "interval_ns": seconds * S,
            "write_ratio": 30 / seconds,
            "rework_ratio": seconds / 28_800,
            "restart_ratio": 0.025,
            "waste_ratio": 30 / seconds + seconds / 28_800 + 0.025,
            "waste_low_ratio": 30 / seconds + seconds / 80_000 + 0.01,
            "waste_high_ratio": 30 / seconds + seconds / 14_400 + 0.05,
        }
        for seconds in (100, 300, 900, 2700, 8100)
    ]


def _replays(run: str) -> list[Row]:
    counts = {"run_id": run, "stop_count": 7, "failure_count": 6}
    return [
        {
            "scenario": "as_was",
            **counts,
            "interval_ns": HOUR,
            "ettr_ratio": 0.84,
            "drawn_ratio": 0.83,
            "error_ratio": 0.04,
            "change_ratio": 0.0,
            "change_error_ratio": 0.0,
        },
        {
            "scenario": "best_interval",
            **counts,
            "interval_ns": 900 * S,
            "ettr_ratio": 0.91,
            "drawn_ratio": 0.9,
            "error_ratio": 0.03,
            "change_ratio": 0.07,
            "change_error_ratio": 0.02,
            "saved_gpu_ns_per_day": Decimal(DAY_GPU_NS) * Decimal("0.07"),
        },
        {
            "scenario": "double_interval",
            **counts,
            "interval_ns": 2 * HOUR,
            "ettr_ratio": 0.8,
            "drawn_ratio": 0.81,
            "error_ratio": 0.05,
            "change_ratio": -0.02,
            "change_error_ratio": 0.03,
            "saved_gpu_ns_per_day": -Decimal(DAY_GPU_NS) * Decimal("0.02"),
        },
    ]


def _bursts(run: str) -> list[Row]:
    known = {
        "run_id": run,
        "bytes": 128 * 10**9,
        "bytes_basis": "saves",
        "writer_count": 8,
        "store_gbs": 2.0,
        "store_basis": "card",
    }
    return [
        {
            "scheme": "direct",
            **known,
            "demand_gbs": 400.0,
            "demand_ratio": 200.0,
            "burst_ns": 64 * S,
            "stall_ns": 64 * S,
            "flush_ns": 64 * S,
            "turn_count": 1,
            "interval_ns": 1300 * S,
            "waste_ratio": 0.12,
            "saved_gpu_ns_per_day": Decimal(DAY_GPU_NS) * Decimal("0.04"),
        },
        {"scheme": "two_tier", **known, "reason": "no local tier is known"},
    ]
