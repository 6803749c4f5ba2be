"""What the pod's traces tell of communication, kind by kind and group by group."""

from tests.reports.builder import Row, S

#: Parallel kind and kind of a step of 2 s: on, hidden, exposed alone. [s / 10]
_KINDS = {
    ("dp", "reducescatter"): (4, 1, 2),
    ("tp", "allgather"): (3, 2, 0),
}


def groups(run: str) -> list[Row]:
    """Five steps of eight ranks; in each, 0.1 s of both kinds at once is exposed."""
    return [
        row
        for rank in range(8)
        for step in (None, 0, 1, 2, 3, 4)
        for row in _window(run, rank, step)
    ]


def _window(run: str, rank: int, step: int | None) -> list[Row]:
    """A step, or the whole of five; later steps and ranks expose more of DP."""
    scale = S // 10 * (5 if step is None else 1)
    late = (10 if step is None else step) * rank * S // 1_000
    window = {
        "run_id": run,
        "attempt": 0,
        "trace_id": f"trace-{rank:02}",
        "rank": rank,
        "device": 0,
        "step": step,
        "span_ns": 20 * scale,
        "collectives_count": 4,
        "linked_ratio": 1.0,
    }
    rows: list[Row] = []
    for split in ("kind", "parallel", "parallel_and_kind"):
        shared = {"split": split, "is_shared": True, "communication_ns": scale}
        rows.append(
            window
            | shared
            | {"overlapped_ns": 0, "exposed_ns": scale, "exposed_alone_ns": scale}
        )
        for (axis, kind), (on, hidden, alone) in _KINDS.items():
            more = late if axis == "dp" else 0
            rows.append(
                window
                | {
                    "split": split,
                    "is_shared": False,
                    "kind": kind if split != "parallel" else None,
                    "parallel_kind": axis if split != "kind" else None,
                    "communication_ns": on * scale + more,
                    "overlapped_ns": hidden * scale,
                    "exposed_ns": (on - hidden) * scale + more,
                    "exposed_alone_ns": alone * scale + more,
                }
            )
    return rows


def hiding(run: str) -> list[Row]:
    """A product of matrices that is 20 % slower beside communication, on each rank."""
    return [
        {
            "run_id": run,
            "attempt": 0,
            "trace_id": f"trace-{rank:02}",
            "rank": rank,
            "device": 0,
            "name": name,
            "alone_count": 100,
            "overlapped_count": 50,
            "alone_ns": 1e6,
            "overlapped_ns": ratio * 1e6,
            "slowdown_ratio": ratio,
            "slowdown_low_ratio": ratio * 0.99,
            "slowdown_high_ratio": ratio * 1.01,
            "cost_ns": 50 * (ratio - 1) * 1e6,
        }
        for rank in range(8)
        for name, ratio in (("gemm", 1.2), ("softmax", 1.002))
    ]
