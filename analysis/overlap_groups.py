"""Which communication is exposed: by kind, and by what its group of ranks is for."""

from functools import partial
from typing import ClassVar, Final, NamedTuple

import dataframely as dy
import polars as pl

from analysis import _overlap_hiding as hiding
from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._overlap_axes import axes_of_groups
from analysis._overlap_chunks import CHUNK_ROWS
from analysis._overlap_names import WHO, named_intervals, with_names
from analysis._overlap_parts import PARTS, SPLITS, groups_of_windows, parts_of, summed
from analysis._overlap_traced import traced_devices, traced_windows
from analysis._overlap_walk import Extent, walk
from analysis.hiding_costs import HidingCosts
from analysis.overlap import Overlap
from analysis.runs import Runs
from ingest.tables import Collectives, Kernels, Table
from ingest.tables import _columns as c

#: Kernels of one name that a median needs, beside communication and alone: the median
#: of 10 has a relative error of about 1.25 / sqrt(10), 0.4 of the spread.
LEAST_KERNELS: Final = 10

#: Share of a kernel from which it counts as overlapped: more beside than not.
LEAST_SHARE: Final = 0.5

_THRESHOLDS: Final = {
    "hiding_least_kernels": LEAST_KERNELS,
    "hiding_least_share": LEAST_SHARE,
}


class OverlapGroups(Table):
    """One row per window of Overlap and part of its communication."""

    key: ClassVar = (
        "run_id",
        "attempt",
        "trace_id",
        "device",
        "step",
        "split",
        "kind",
        "parallel_kind",
        "group_id",
    )

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    trace_id = c.identifier("Trace that was measured.")
    rank = c.index("Global rank; null where the trace does not tell.", nullable=True)
    device = c.index("Device inside the trace.")
    step = c.number("Step; null for the whole trace.", nullable=True)
    split = c.choice(
        "How communication is told apart; the rows of a split add up to all of it.",
        tuple(SPLITS),
    )
    kind = c.identifier(
        "Kind of collective; sendrecv for sends and receives; unknown where neither the"
        " trace nor the kernel's name tells.",
        nullable=True,
    )
    parallel_kind = c.identifier(
        "What the group is for (dp, tp, pp, cp, ep, world: all ranks), or unknown.",
        nullable=True,
    )
    parallel_basis = c.choice(
        "What tells that: the group's description, or the layout of the run card and"
        " the members of the group.",
        ("description", "layout", "unknown"),
        nullable=True,
    )
    group_id = c.identifier("Group of ranks, or unknown.", nullable=True)
    is_shared = c.flag(
        "Whether the row is the time in which several of the split are on at once."
    )
    span_ns = c.duration_ns("Length of the window.")
    communication_ns = c.duration_ns("Time with it on.")
    overlapped_ns = c.duration_ns("Time with it and compute at once.")
    exposed_ns = c.duration_ns("Time with it and no compute.")
    exposed_alone_ns = c.duration_ns(
        "Part of that in which nothing else of the split was on: these add up, with the"
        " row of shared time, to the exposed communication of the window."
    )
    collectives_count = c.count("Kernels of it that start in the window.")
    linked_ratio = c.ratio("Share of them whose launch is in the trace.", nullable=True)


def measure_groups(
    frames: Frames,
    thresholds: Thresholds = _THRESHOLDS,
    chunk_rows: int = CHUNK_ROWS,
) -> tuple[dy.DataFrame[OverlapGroups], dy.DataFrame[HidingCosts]]:
    """Tell the communication of each window of Overlap apart, and what hiding costs.

    Args:
        frames: Rows of Kernels, Collectives, Overlap and Runs.
        thresholds: What a median of hiding costs needs.
        chunk_rows: Rows to hold at once. [1]

    Returns:
        What each part of the communication took of each window, and the kernels that
        ran beside communication and alone. [ns]
    """
    devices = traced_devices(frames[Overlap])
    windows = traced_windows(frames[Overlap], devices)
    axes = axes_of_groups(frames[Collectives], frames[Runs])
    walked = _walk(frames, Extent(devices, windows, chunk_rows), axes, thresholds)
    of_devices = devices.drop("attempt").rename({"placed": "attempt"})
    groups = groups_of_windows(walked.parts, windows, of_devices, axes)
    costs = walked.costs.join(of_devices, on="number").sort(HidingCosts.key)
    return (
        OverlapGroups.validate(
            groups.select(OverlapGroups.column_names()).sort(OverlapGroups.key),
            cast=True,
        ),
        HidingCosts.validate(costs.select(HidingCosts.column_names()), cast=True),
    )


class _Walked(NamedTuple):
    parts: pl.DataFrame
    costs: pl.DataFrame


def _walk(
    frames: Frames, extent: Extent, axes: pl.DataFrame, thresholds: Thresholds
) -> _Walked:
    """Go over the traces once; kernels of a device are let go when it is past."""
    least = thresholds["hiding_least_kernels"], thresholds["hiding_least_share"]
    still_on, run = pl.DataFrame(schema=hiding.OPEN), [pl.DataFrame(schema=hiding.RUN)]
    parts, costs = [pl.DataFrame(schema=PARTS)], []
    naming = partial(with_names, collectives=frames[Collectives], axes=axes)
    for chunk in walk(named_intervals(frames[Kernels]), extent, WHO, naming):
        parts.append(parts_of(chunk))
        over, still_on = hiding.beside(chunk, still_on)
        past, run = hiding.passed(run, over, chunk)
        costs.append(hiding.costs(past, *least))
    costs.append(hiding.costs(pl.concat(run), *least))
    return _Walked(summed(pl.concat(parts).lazy()), pl.concat(costs))


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    groups, costs = measure_groups(frames, thresholds)
    return {OverlapGroups: groups, HidingCosts: costs}


ANALYSIS: Final = Analysis(
    name="overlap_groups",
    version=1,
    describes="Which kinds and groups of communication are exposed, and what hiding"
    " them costs",
    inputs=(Kernels, Collectives, Overlap, Runs),
    needs=(Kernels,),
    outputs=(OverlapGroups, HidingCosts),
    compute=_compute,
    thresholds=_THRESHOLDS,
)
