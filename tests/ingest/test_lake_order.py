"""What the lake shows depends on which files are in it, not on how they came."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.staging import Candidate
from tests.ingest.tiny import (
    DAY,
    assert_accounted,
    assert_same,
    candidate,
    content,
    ingest,
    put,
)

pytestmark = pytest.mark.thorough

# few keys and few times, so that files contend for nearly every row
metrics = st.builds(
    "m {} {} {}".format,
    st.integers(0, 3),
    st.sampled_from([5, 6, DAY, 2 * DAY]),
    st.integers(0, 2),
)
steps = st.builds(
    "s {} {} {} {}".format,
    st.integers(0, 1),
    st.integers(0, 1),
    st.sampled_from([5, DAY]),
    st.integers(-1, 1),
)
logs = st.lists(st.lists(metrics | steps, max_size=6), min_size=1, max_size=5)


def put_all(folder: Path, lines: list[list[str]]) -> list[Candidate]:
    """Write the logs, each with a line of its own, so that no two are one file."""
    return [
        candidate(put(folder, f"{i}", [f"? {i}", *log])) for i, log in enumerate(lines)
    ]


@given(lines=logs, data=st.data())
@settings(deadline=None, max_examples=25)
def test_order_and_split_into_commits_do_not_matter(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[list[str]],
    data: st.DataObject,
) -> None:
    # GIVEN files in an order, and the same in another order in several commits
    folder = tmp_path_factory.mktemp("order")
    files = put_all(folder, lines)
    shuffled = data.draw(st.permutations(files))
    cuts = data.draw(st.sets(st.integers(1, len(files))))
    bounds = pairwise([0, *sorted(cuts), len(files)])
    batches = [shuffled[a:b] for a, b in bounds]

    # WHEN
    ingest(folder / "at-once", files)
    ingest(folder / "in-parts", *batches)

    # THEN
    assert_same(content(folder / "at-once"), content(folder / "in-parts"))
    assert_accounted(folder / "in-parts")


@given(lines=logs, changed=logs, data=st.data())
@settings(deadline=None, max_examples=25)
def test_a_superseded_file_leaves_no_trace(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[list[str]],
    changed: list[list[str]],
    data: st.DataObject,
) -> None:
    # GIVEN files, of which some are superseded by changed ones in later commits
    folder = tmp_path_factory.mktemp("superseded")
    files = put_all(folder, lines)
    old = data.draw(st.permutations(files))[: len(changed)]
    new = [
        candidate(
            put(folder, f"new-{i}", [f"? new {i}", *log]),
            supersedes=[before.reading.file_id],
        )
        for i, (log, before) in enumerate(zip(changed, old, strict=False))
    ]
    left = [file for file in files if file not in old]

    # WHEN
    ingest(folder / "changed", files, *([file] for file in new))
    ingest(folder / "fresh", [*left, *new])

    # THEN the lake is as if the superseded ones had never been there
    assert_same(content(folder / "changed"), content(folder / "fresh"))
    assert_accounted(folder / "changed")
