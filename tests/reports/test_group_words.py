"""Groups of ranks as the page names them."""

import pytest

from reports._group_words import group_in_words, members


@pytest.mark.parametrize(
    ("group", "said"),
    [
        ("10:[1,3,5,7,9,11,13,15]", "ranks 1, 3, \N{HORIZONTAL ELLIPSIS} 15"),
        ("0:[0,1,2,3,4,5,6,7]", "ranks 0\N{EN DASH}7"),
        ("7:[12,13]", "ranks 12, 13"),
        ("[4]", "rank 4"),
        ("default_pg", "default_pg"),
    ],
)
def test_members_are_named_and_no_list_is_cut(group: str, said: str) -> None:
    assert members(group) == said


def test_a_group_is_named_by_what_it_is_for() -> None:
    assert group_in_words("7:[12,13]", "tp", "allreduce") == (
        "TP all-reduce of ranks 12, 13"
    )
    assert group_in_words("world", None, "allreduce") == "all-reduce of all ranks"
    assert group_in_words("0:[0,1]", "world", "sendrecv") == (
        "send/receive of all ranks"
    )
    assert group_in_words("1:[0,1]", None, "sendrecv") == "send/receive of ranks 0, 1"
