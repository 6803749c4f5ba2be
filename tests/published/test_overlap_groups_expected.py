"""Kinds of communication of real traces, against figures of whole ranks.

Exposed communication of the eight ranks of DLRM as Holistic Trace Analysis, TraceLens
and an exact sweep agree on it, to the microsecond.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

from analysis import Frames
from analysis.overlap import Overlap, measure_overlap
from analysis.overlap_groups import OverlapGroups, measure_groups
from ingest.tables import Collectives, Kernels
from tests.published.kineto_rows import attempts
from tests.published.traces import rows_of, traces

pytestmark = pytest.mark.thorough

DLRM: Final = "kineto/facebookresearch+param"

#: Exposed communication of ranks 0 to 7. [us]
EXPOSED: Final = (5537, 11056, 3217, 9450, 6550, 6211, 3289, 1580)

#: Two A100 that sum gradients, with their groups told: 0:[0,1] are all ranks.
TWO_GPUS: Final = "nccl_data.json.gz"


def groups_of(*paths: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Parts of communication, and the windows that they are of."""
    kernels = rows_of(Kernels, *paths)
    overlap = measure_overlap(Kernels.cast(kernels), attempts())
    collectives = rows_of(Collectives, *paths)
    found, _ = measure_groups(
        Frames({Kernels: kernels, Collectives: collectives, Overlap: overlap.lazy()})
    )
    assert OverlapGroups.is_valid(found)
    return found, overlap


def by_kind(groups: pl.DataFrame, rank: int) -> Mapping[str, Any]:
    chosen = groups.filter(pl.col("step").is_null(), split="kind", rank=rank)
    rows = chosen.select(pl.col("kind").fill_null("shared"), "exposed_alone_ns")
    return dict(rows.iter_rows())


def test_kinds_of_dlrm_add_up_to_what_three_tools_agree_on(shared: Path) -> None:
    groups, _ = groups_of(*traces(shared / "data" / DLRM))
    for rank, exposed in enumerate(EXPOSED):
        kinds = by_kind(groups, rank)
        assert set(kinds) <= {"allreduce", "sendrecv", "shared"}
        assert abs(sum(kinds.values()) / 1_000 - exposed) <= 1
    # rank 7 is late, so it waits least: least is exposed, of either kind
    alone = {rank: by_kind(groups, rank)["sendrecv"] for rank in range(8)}
    assert min(alone, key=lambda rank: alone[rank]) == 7


@pytest.mark.parametrize("split", ["kind", "parallel", "parallel_and_kind", "group"])
def test_every_window_of_real_traces_adds_up(shared: Path, split: str) -> None:
    (one,) = (shared / "data" / "kineto").rglob(TWO_GPUS)
    for paths in (traces(shared / "data" / DLRM), [one]):
        groups, overlap = groups_of(*paths)
        window = ["trace_id", "device", "step"]
        parts = groups.filter(split=split).group_by(window)
        summed = parts.agg(pl.col("exposed_alone_ns").sum())
        talking = overlap.filter(pl.col("communication_ns") > 0)
        whole = talking.join(summed, on=window, how="left", nulls_equal=True)
        assert whole["exposed_alone_ns"].equals(whole["exposed_communication_ns"])


def test_the_group_of_two_gpus_is_all_ranks(shared: Path) -> None:
    (path,) = (shared / "data" / "kineto").rglob(TWO_GPUS)
    groups, overlap = groups_of(path)
    whole = overlap.filter(pl.col("step").is_null()).to_dicts()[0]
    (row,) = groups.filter(pl.col("step").is_null(), split="group").to_dicts()
    assert (row["group_id"], row["parallel_kind"]) == ("0:[0,1]", "world")
    assert row["parallel_basis"] == "description"
    assert row["exposed_ns"] == whole["exposed_communication_ns"]
    assert row["collectives_count"] == 21
