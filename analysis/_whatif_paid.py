"""What a run paid for: no repair can save more."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import polars as pl

from analysis._analysis import Frames
from analysis.allocations import Allocations

#: Length of steps over that of their run from which one of them is absurd: clocks of
#: hosts may make steps a little longer than all that was seen. [1]
_TOO_LONG: Final = 1.1


class Paid(NamedTuple):
    """What a run paid for.

    Attributes:
        gpu_ns: GPU time. [ns]
        span_ns: From when the first GPU was held until the last was left. [ns]
    """

    gpu_ns: int
    span_ns: int


def paid_of(frames: Frames) -> Mapping[str, Paid]:
    """Return what each run paid for; runs that paid nothing are not known.

    Args:
        frames: Rows of Allocations.
    """
    start, end = (pl.col(name).cast(pl.Int128) for name in ("from_ns", "to_ns"))
    rows = (
        frames[Allocations]
        .group_by("run_id")
        .agg(gpu_ns=(end - start).sum(), span_ns=end.max() - start.min())
    )
    found = rows.collect(engine="streaming")
    return {run: Paid(gpu, span) for run, gpu, span in found.iter_rows()}


def why_too_much(paid: Paid | None, saved_gpu_ns: int, longest_ns: int) -> str:
    """Return why a saving cannot be; empty where it can, or nobody knows.

    Args:
        paid: What the run paid for; None where that is not known.
        saved_gpu_ns: The saving. [ns]
        longest_ns: Length of the longest steps that were seen. [ns]
    """
    if paid is None:
        return ""
    if longest_ns > _TOO_LONG * paid.span_ns:
        return "a step is longer than the whole run was: its times cannot be right"
    if saved_gpu_ns > paid.gpu_ns:
        return "it would save more than the run paid for"
    return ""
