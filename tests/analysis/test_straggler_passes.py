"""What traced passes say of a slow rank: pauses of garbage, and long sequences."""

from typing import Any

import numpy as np
import polars as pl

from ingest.tables import Operations
from tests.analysis.fleets import START_NS, STEP_NS, table
from tests.analysis.slow_rank import RANKS, SLOW, STEPS, cause, rung, search, slow_work

MICROBATCHES = 8


def passes(
    forward: np.ndarray[Any, Any],
    backward: np.ndarray[Any, Any],
    pauses: np.ndarray[Any, Any] | None = None,
) -> pl.DataFrame:
    """Operations of [step, rank, micro-batch], in ns; and of garbage, [step, rank]."""
    parts = []
    told = [("forward-compute", forward), ("backward-compute", backward)]
    if pauses is not None:
        told.append(("gc", pauses[:, :, None]))
    for kind, lengths in told:
        step, rank, microbatch = np.indices(lengths.shape)
        parts.append(
            pl.DataFrame(
                {
                    "file_id": "t",
                    "run_id": "run",
                    "attempt": 0,
                    "trace_id": "t",
                    "step": step.ravel(),
                    "rank": rank.ravel(),
                    "pp_rank": 0,
                    "kind": kind,
                    "microbatch": microbatch.ravel(),
                    "chunk": 0,
                    "sequence": microbatch.ravel(),
                    "start_ns": START_NS + step.ravel() * STEP_NS,
                    "duration_ns": np.rint(lengths).astype(np.int64).ravel(),
                }
            )
        )
    rows = pl.concat(parts).filter(pl.col("duration_ns") > 0)
    return table(Operations, rows)


def even() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Passes of 40 and 80 ms with a scatter of 1 %: 8 of each make a second."""
    draw = np.random.default_rng(4)
    shape = (STEPS, RANKS, MICROBATCHES)
    return (
        4e7 * draw.normal(1, 0.01, shape),
        8e7 * draw.normal(1, 0.01, shape),
    )


def test_garbage_that_is_traced_and_makes_up_the_excess() -> None:
    forward, backward = even()
    pauses = np.zeros((STEPS, RANKS))
    pauses[:, SLOW] = 2e8
    results = search(slow_work(), (Operations, passes(forward, backward, pauses)))
    assert cause(results) == "garbage_collection"
    assert "garbage collection: " in rung(results, "garbage_collection")["evidence"]


def test_pauses_of_hundreds_of_ms_in_forward_passes_alone() -> None:
    # one forward pass in each step 200 ms longer, never the same
    forward, backward = even()
    steps = np.arange(STEPS)
    forward[steps, SLOW, steps % MICROBATCHES] += 2e8
    results = search(slow_work(), (Operations, passes(forward, backward)))
    assert cause(results) == "garbage_collection"


def test_pauses_in_all_passes_are_no_garbage() -> None:
    forward, backward = even()
    steps = np.arange(STEPS)
    forward[steps, SLOW, steps % MICROBATCHES] += 2e8
    backward[steps, SLOW, steps % MICROBATCHES] += 2e8
    results = search(slow_work(), (Operations, passes(forward, backward)))
    assert rung(results, "garbage_collection")["supports"] is False


def test_passes_that_are_all_longer_are_neither() -> None:
    forward, backward = even()
    forward[:, SLOW] *= 1.2
    backward[:, SLOW] *= 1.2
    results = search(slow_work(), (Operations, passes(forward, backward)))
    assert cause(results) == "unknown"
    for name in ("garbage_collection", "sequence_length"):
        assert rung(results, name)["supports"] is False


def lengths(of_slow: float) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Passes whose lengths follow those of sequences; a share of them twice as long."""
    draw = np.random.default_rng(5)
    shape = (STEPS, RANKS, MICROBATCHES)
    share = np.full(RANKS, 0.2)
    share[SLOW] = of_slow
    long = 1 + (draw.random(shape) < share[None, :, None])
    forward, backward = even()
    return forward * long, backward * long


def test_long_sequences_make_both_passes_longer() -> None:
    # of rank 5 half of the micro-batches are long, of the others a fifth
    results = search(slow_work(), (Operations, passes(*lengths(0.5))))
    assert cause(results) == "sequence_length"
    told = rung(results, "sequence_length")
    assert told["table_name"] == "operations"
    assert told["rows_count"] == 2 * STEPS * MICROBATCHES


def test_a_slow_gpu_with_sequences_like_the_others_is_slow_itself() -> None:
    # its short micro-batches are slower than the others', too
    forward, backward = lengths(0.2)
    forward[:, SLOW] *= 1.2
    backward[:, SLOW] *= 1.2
    results = search(slow_work(), (Operations, passes(forward, backward)))
    assert rung(results, "sequence_length")["supports"] is False
