"""What groups of ranks are for, by their description or the layout of the run."""

import pytest

from tests.analysis.timelines import measure

#: 2 x 2 x 2 x 4 ranks: tp runs fastest, then cp, pp and dp. Two experts are spread
#: over the 8 positions of cp and dp, in turn.
LAYOUT = {"tp": 2, "cp": 2, "pp": 2, "dp": 4, "ep": 2, "rank_order": "tp,cp,pp,dp"}


@pytest.mark.parametrize(
    ("group", "axis"),
    [
        ("allreduce 1:[0,1]", "tp"),
        ("send 2:[0,4]", "pp"),
        ("allgather 3:[0,2]", "cp"),
        ("alltoall 3:[0,2]", "ep"),  # the same members, and tokens are exchanged
        ("allreduce 4:[0,8,16,24]", "dp"),  # also those with the same experts
        ("allreduce 5:[0,2,8,10,16,18,24,26]", "dp"),  # over context, too
        ("allreduce 6:[0,1,2,3]", "unknown"),  # of several axes
        ("allreduce 7:[0,16]", "unknown"),  # half of an axis
        ("allreduce 8:" + str([*range(32)]).replace(" ", ""), "world"),
        ("allreduce 9", "unknown"),  # tells no members
    ],
)
def test_the_layout_tells_what_a_group_is_for(group: str, axis: str) -> None:
    found = measure([(group, 0, 5, 0)], layout=LAYOUT)
    (row,) = found.filter(split="group", step=0).to_dicts()
    assert row["parallel_kind"] == axis
    assert row["parallel_basis"] == ("unknown" if axis == "unknown" else "layout")


def test_experts_spread_over_half_of_an_axis_have_groups_of_their_own() -> None:
    # dp 8, ep 4: the ranks of one set of experts are 0 to 3, its copies are 0 and 4
    layout = {"tp": 1, "cp": 1, "pp": 1, "dp": 8, "ep": 4}
    for group, axis in (("alltoall 1:[0,1,2,3]", "ep"), ("allreduce 2:[0,4]", "dp")):
        found = measure([(group, 0, 5, 0)], layout=layout)
        (row,) = found.filter(split="group", step=0).to_dicts()
        assert row["parallel_kind"] == axis


def test_a_description_comes_before_the_layout() -> None:
    found = measure([("allreduce 1:[0,1] dp", 0, 5, 0)], layout=LAYOUT)
    (row,) = found.filter(split="group", step=0).to_dicts()
    assert (row["parallel_kind"], row["parallel_basis"]) == ("dp", "description")


def test_the_world_of_a_run_along_one_axis_is_that_axis() -> None:
    alone = {"tp": 1, "cp": 1, "pp": 1, "dp": 4}
    work = [("allreduce 0:[0,1,2,3] world", 0, 5, 0)]
    (row,) = measure(work, layout=alone).filter(split="group", step=0).to_dicts()
    assert (row["parallel_kind"], row["parallel_basis"]) == ("dp", "layout")
    (row,) = measure(work, layout=LAYOUT).filter(split="group", step=0).to_dicts()
    assert (row["parallel_kind"], row["parallel_basis"]) == ("world", "description")


def test_where_the_layout_has_one_axis_every_group_is_along_it() -> None:
    alone = {"tp": 1, "cp": 1, "pp": 4, "dp": 1}
    for group in ("world", "7:[0,3]"):
        (row,) = (
            measure([(f"sendrecv {group}", 0, 5, 0)], layout=alone)
            .filter(split="group", step=0)
            .to_dicts()
        )
        assert (row["parallel_kind"], row["parallel_basis"]) == ("pp", "layout")
    # experts may have groups of their own among the replicas
    with_experts = {"tp": 1, "cp": 1, "pp": 1, "dp": 8, "ep": 4}
    found = measure([("allreduce world", 0, 5, 0)], layout=with_experts)
    assert set(found.filter(split="group")["parallel_kind"]) == {"unknown"}
