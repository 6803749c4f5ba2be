"""The pod's work: its ledger, steps, traces and collectives."""

from decimal import Decimal

from analysis.stragglers import StragglerRanks, StragglerSteps, StragglerTests
from ingest.tables import Table
from tests.reports.builder import HOUR, RUN, SLOW_RANK, START, STEPS, Row, S


def ledger(run: str = RUN, day: str = "2026-11-18") -> list[Row]:
    """Accounts of 100 GPU-hours, in whole hours: 70 of them productive."""
    hours = {
        "productive": (70, "collectives"),
        "exposed_communication": (9, "collectives"),
        "straggler_wait": (6, "collectives"),
        "restart": (5, "none"),
        "recompute": (4, "collectives"),
        "data_stall": (2, "step_parts"),
        "idle": (1, "collectives"),
        "unattributed": (3, "none"),
    }
    return [
        {
            "run_id": run,
            "attempt": 0,
            "day": day,
            "category": category,
            "basis": basis,
            "gpu_ns": Decimal(count * HOUR),
        }
        for category, (count, basis) in hours.items()
    ]


def steps(run: str) -> list[Row]:
    """Steps of 2 s; the slow rank works 12 % longer in steps 40 to 89."""
    rows = []
    for step in range(STEPS):
        spell = 40 <= step < 90
        for rank in range(8):
            is_slow = spell and rank == SLOW_RANK
            work = int((1.8 + 0.002 * ((rank * 7 + step * 3) % 5)) * S)
            work = work * 112 // 100 if is_slow else work
            duration = int((2.1 if spell else 1.9) * S)
            rows.append(
                {
                    "run_id": run,
                    "attempt": 0,
                    "step": step,
                    "rank": rank,
                    "start_ns": START + step * 2 * S,
                    "duration_ns": duration,
                    "wait_ns": max(0, duration - work),
                    "scope": "rank",
                    "clock": "host",
                    "step_count": 1,
                    "file_id": "f-steps",
                }
            )
    return rows


def overlaps(run: str) -> list[Row]:
    """A trace of 10 s of every rank: 6 s compute, 3 s communication, half hidden."""
    return [
        {
            "run_id": run,
            "attempt": 0,
            "trace_id": f"trace-{rank:02}",
            "rank": rank,
            "device": 0,
            "step": None,
            "start_ns": START,
            "span_ns": 10 * S,
            "busy_ns": 8 * S,
            "compute_ns": 6 * S - rank * S // 10,
            "communication_ns": 3 * S + rank * S // 10,
            "memory_ns": S // 2,
            "overlapped_ns": 3 * S // 2,
            "exposed_communication_ns": 3 * S // 2 + rank * S // 10,
            "exposed_memory_ns": S // 2,
            "idle_ns": 2 * S,
            "overlap_ratio": 1.5 / (3 + rank / 10),
            "linked_ratio": 0.99,
        }
        for rank in range(8)
    ]


def waits(run: str) -> list[Row]:
    """Forty collectives of two groups; the slow rank comes last in most."""
    rows: list[Row] = []
    for number in range(40):
        is_all = number % 2 == 0
        rows.append(
            {
                "run_id": run,
                "attempt": 0,
                "group_id": "dp-all" if is_all else "tp-node-b12",
                "kind": "allreduce" if is_all else "allgather",
                "is_p2p": False,
                "sequence": number,
                "match_method": "sequence",
                "start_ns": START + number * S,
                "bytes_total": 2 ** (20 + number % 8) + number,
                "ranks_seen": 8 if is_all else 4,
                "ranks_expected": 8 if is_all else 4,
                "wait_ns_max": 40_000_000,
                "wait_ns_total": 200_000_000 + number * 1_000_000,
                "late_ns": 30_000_000,
                "transfer_ns": 5_000_000,
                "busbw_gbs": 80.0 + 10 * (number % 8) + number / 10,
                "last_rank": SLOW_RANK,
                "clock_residual_ns": 30_000,
            }
        )
    return rows


def late(run: str) -> list[Row]:
    """What collectives tell of each rank's arrivals."""
    return [
        {
            "run_id": run,
            "attempt": 0,
            "rank": rank,
            "complete_count": 40,
            "collectives_count": 40,
            "last_count": 33 if rank == SLOW_RANK else 1,
            "expected_count": 5.0,
            "wait_ns": 10**9,
            "late_ns": 990_000_000 if rank == SLOW_RANK else 12_000_000 + rank,
            "p_value": 1e-20 if rank == SLOW_RANK else 0.9,
            "is_late": rank == SLOW_RANK,
            "verdict": "late" if rank == SLOW_RANK else "within_chance",
        }
        for rank in range(8)
    ]


def slow(run: str, host: str) -> dict[type[Table], list[Row]]:
    """One GPU found slow, and what the test could have seen."""
    rank = {
        "run_id": run,
        "scope": "gpu",
        "scope_id": "GPU-0007-aaaa-bbbb",
        "rank": SLOW_RANK,
        "host": host,
        "slowdown_ratio": 1.12,
        "q_value": 1e-9,
        "first_step": 40,
        "last_step": 89,
        "steps_late": 50,
        "lost_gpu_ns": Decimal(5 * HOUR),
        "cause": "power_cap",
        "evidence": "power at its limit in 50 of 50 steps",
    }
    test = {
        "run_id": run,
        "ranks_tested": 8,
        "ranks_untested": 0,
        "steps_tested": STEPS,
        "smallest_visible_ratio": 1.021,
        "verdict": "tested",
    }
    step = {
        "run_id": run,
        "attempt": 0,
        "step": 0,
        "slowest_rank": 7,
        "slowest_work_ns": 2 * S,
        "typical_work_ns": 18 * S // 10,
        "ranks_seen": 8,
        "lost_gpu_ns": Decimal(5 * HOUR),
        "jitter_gpu_ns": Decimal(HOUR),
    }
    return {StragglerRanks: [rank], StragglerTests: [test], StragglerSteps: [step]}
