"""Groups of ranks, as traces tell them."""

from collections.abc import Callable
from typing import Any

ReadTrace = Callable[..., Any]

GROUP: dict[str, object] = {
    "Process_Group_Name": "0",
    "Process_Group_Ranks": "[0, 1, 2, 3]",
    "Process_Group_Description": "default_pg",
    "Group_size": 4,
}


def test_kernels_without_a_group_join_the_only_one(
    read_trace: ReadTrace, write: Any
) -> None:
    told = write.kernel(2, 1, "ncclX", Collective_name="broadcast", **GROUP)
    other = write.kernel(
        3, 1, "ncclX", Process_Group_Name="9", Process_Group_Ranks="[0, 2]"
    )
    silent = write.kernel(1, 1, "ncclY")
    world = {"distributedInfo": {"rank": 0, "world_size": 4}}
    one = read_trace(world | {"traceEvents": [silent, told]}).collectives
    assert one["group_id"].to_list() == ["0:[0,1,2,3]"] * 2
    assert one["group_size"].to_list() == [4, 4]
    two = read_trace(world | {"traceEvents": [silent, told, other]}).collectives
    assert two["group_id"].to_list() == ["world", "0:[0,1,2,3]", "9:[0,2]"]
    larger = {"distributedInfo": {"rank": 0, "world_size": 8}}
    part = read_trace(larger | {"traceEvents": [silent, told]}).collectives
    assert part["group_id"].to_list() == ["world", "0:[0,1,2,3]"]


def test_groups_differ_by_name_members_and_size(
    read_trace: ReadTrace, write: Any
) -> None:
    cut = {"Process_Group_Name": "5", "Process_Group_Ranks": "[0, 1, ...]"}
    groups: list[dict[str, object]] = [
        GROUP,
        GROUP | {"Process_Group_Name": 0, "Process_Group_Ranks": [0, 1, 2, 3]},
        GROUP | {"Process_Group_Name": "1"},
        cut | {"Group_size": 64},
        cut | {"Group_size": 128},
    ]
    work = [write.kernel(at, 1, "ncclX", **group) for at, group in enumerate(groups)]
    assert read_trace(work).collectives["group_id"].to_list() == [
        "0:[0,1,2,3]",
        "0:[0,1,2,3]",
        "1:[0,1,2,3]",
        "5:[0,1,...]:x64",
        "5:[0,1,...]:x128",
    ]
