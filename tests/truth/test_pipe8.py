"""What was put into the pipelined sample run comes out of it, beside other runs."""

from typing import TYPE_CHECKING

import pytest

from tests.truth.conftest import Sample

pytestmark = pytest.mark.thorough

if TYPE_CHECKING:
    from tests.truth.conftest import Demo


@pytest.fixture(scope="module")
def pipe8(demo: "Demo") -> Sample:
    """The lake of the demonstration, and the truth of its pipelined run."""
    return Sample(demo.code, demo.lake, demo.truths["pipe8"])


def test_the_bubble_of_each_stage_is_exact(pipe8: Sample) -> None:
    assert pipe8.code == 0
    rows = pipe8.sql("SELECT * FROM pipeline_bubbles ORDER BY pp_rank")
    assert [int(ns) for ns in rows["bubble_ns"]] == pipe8.truth["bubble_ns_by_stage"]
    computed = [int(ns) for ns in rows["compute_ns"]]
    assert computed == pipe8.truth["compute_ns_by_stage"]
    expected = pipe8.truth["expected_bubble_ratio"]
    assert rows["expected_ratio"].to_list() == [expected] * 4
    # nothing contradicts the run card
    assert rows["reason"].null_count() == 4


def test_the_slow_stage_is_the_one_that_waits_least(pipe8: Sample) -> None:
    rows = pipe8.sql("SELECT * FROM pipeline_bubbles ORDER BY bubble_ratio")
    assert [rows["pp_rank"][0]] == pipe8.truth["slow_stages"]
    assert rows["imbalance_ns"][0] < 0
    others = rows.filter(rows["pp_rank"] != rows["pp_rank"][0])
    for row in others.rows(named=True):
        assert row["imbalance_ns"] > 20 * row["straggler_ns"]


def test_the_ledger_books_every_step(pipe8: Sample) -> None:
    sums = (
        "SELECT category, sum(gpu_ns)::HUGEINT AS ns FROM lost_time"
        f" WHERE run_id = '{pipe8.truth['run_id']}' GROUP BY 1"
    )
    found = {name: int(ns) for name, ns in pipe8.sql(sums).iter_rows()}
    steps, between = pipe8.truth["step_ns"], 10**6
    paid = pipe8.truth["ranks"] * (sum(steps) + between * (len(steps) - 1))
    assert sum(found.values()) == paid
    assert "unattributed" not in found
    waited = found["pipeline_bubble"] + found["straggler_wait"]
    assert found["straggler_wait"] < 0.01 * waited
    assert waited > pipe8.truth["lost_gpu_ns"]


def test_the_page_says_what_adds_most(pipe8: Sample) -> None:
    html = (pipe8.lake / "report.html").read_text(encoding="utf-8")
    assert "stages out of balance add most" in html


def test_its_operations_tell_its_time(pipe8: Sample) -> None:
    rows = pipe8.sql(
        f"SELECT DISTINCT basis FROM lost_time WHERE run_id = '{pipe8.truth['run_id']}'"
    )
    assert rows["basis"].to_list() == ["operations"]


def test_its_steps_are_slow_for_the_last_stage(pipe8: Sample) -> None:
    (row,) = pipe8.sql("SELECT run_id, cause, is_reliable FROM replays").rows()
    # the slow stage of the truth is the last of four
    assert pipe8.truth["slow_stages"] == [3]
    assert row == (pipe8.truth["run_id"], "last_stage", True)
