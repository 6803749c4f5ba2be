"""The pod's links: transfers of four sizes on a line, models and a benchmark."""

from analysis.bandwidth_checks import BandwidthChecks
from analysis.latency_anatomy import LatencyAnatomy, LatencySizes
from analysis.latency_models import LatencyModels
from ingest.tables import Table
from tests.reports.builder import Row

#: An all-reduce of eight ranks: 40 us, and 100 GB/s of algbw.
ALPHA_NS, BETA_GBS, FACTOR = 40_000, 100.0, 2 * 7 / 8

SIZES = (2**10, 2**20, 2**25, 2**30)


def links(run: str) -> dict[type[Table], list[Row]]:
    """Rows of a group with a line, one of a single size, and two checks."""
    series: Row = {
        "run_id": run,
        "source": "trace",
        "scope": "parallel_kind",
        "group_id": "dp",
        "kind": "allreduce",
        "ranks": 8,
    }
    fitted = series | {
        "parallel_kind": "dp",
        "nodes": 2,
        "groups_count": 1,
        "seen_count": 800,
        "timed_count": 800,
        "sizes_count": len(SIZES),
        "smallest_bytes": SIZES[0],
        "largest_bytes": SIZES[-1],
        "alpha_ns": ALPHA_NS,
        "alpha_low_ns": 38_000,
        "alpha_high_ns": 42_000,
        "beta_gbs": BETA_GBS,
        "beta_low_gbs": 98.0,
        "beta_high_gbs": 102.0,
        "busbw_gbs": BETA_GBS * FACTOR,
        "busbw_low_gbs": 98.0 * FACTOR,
        "busbw_high_gbs": 102.0 * FACTOR,
        "half_bytes": 4_000_000,
        "residual_ratio": 0.02,
        "worst_ratio": 1.5,
        "worst_bytes": SIZES[2],
        "typical_bytes": SIZES[-1],
        "typical_count": 200,
        "p50_ns": 10_777_418,
        "p99_ns": 11_777_418,
        "tail_ns": 1_000_000,
    }
    bare = series | {
        "scope": "group",
        "group_id": "world:[0,1]",
        "seen_count": 3,
        "timed_count": 3,
        "groups_count": 1,
        "sizes_count": 1,
        "smallest_bytes": 2,
        "largest_bytes": 2,
        "typical_bytes": 2,
        "typical_count": 3,
        "p50_ns": 30_000,
        "reason": "1 of the 3 sizes that a line needs",
    }
    model = series | {
        "nodes": 2,
        "alpha_ns": ALPHA_NS,
        "busbw_gbs": BETA_GBS * FACTOR,
        "rounds": 14,
        "round_ns": ALPHA_NS // 14,
        "inside_gbs": BETA_GBS * FACTOR,
        "between_gbs": BETA_GBS * FACTOR / 4,
        "is_possible": True,
    }
    models = [
        model | {"model": "ring", "misfit_ratio": 0.2, "is_closest": True},
        model | {"model": "tree", "is_possible": False},
        model | {"model": "hierarchical", "rounds": None, "reason": "nobody knows"},
    ]
    return {
        LatencyAnatomy: [fitted, bare],
        LatencySizes: [series | size for size in map(_size, SIZES)],
        LatencyModels: models,
        BandwidthChecks: [
            _check(run, 0, "exact"),
            _check(run, 1, "within_rounding"),
        ],
    }


def _size(size: int) -> Row:
    line = ALPHA_NS + size / BETA_GBS
    time = line * (1.5 if size == SIZES[2] else 1.01)
    bus = size * FACTOR
    return {
        "bytes_total": size,
        "low_bytes": size,
        "high_bytes": size,
        "timed_count": 200,
        "p05_ns": round(time * 0.97),
        "p50_ns": round(time),
        "p95_ns": round(time * 1.2),
        "line_ns": round(line),
        "busbw_low_gbs": bus / time / 1.2,
        "busbw_gbs": bus / time,
        "busbw_high_gbs": bus / time / 0.97,
        "line_busbw_low_gbs": bus / (42_000 + size / 98),
        "line_busbw_gbs": bus / line,
        "line_busbw_high_gbs": bus / (38_000 + size / 102),
    }


def _check(run: str, position: int, agreement: str) -> Row:
    return {
        "run_id": run,
        "test_id": "t 1",
        "position": position,
        "kind": "allreduce",
        "bytes_total": 2**20,
        "duration_ns": 100_000,
        "ranks": 8,
        "ranks_basis": "bandwidths",
        "busbw_agreement": agreement,
    }
