"""The section on pipeline bubbles: its finding, its limits, several runs."""

from decimal import Decimal
from typing import Any

from analysis.lost_time import LostTime
from analysis.pipeline_bubbles import PipelineBubbles
from analysis.runs import Runs
from reports._blind_work import untraced
from reports._section import Content, Scope
from reports.pipeline_bubbles import SECTION
from tests.reports.builder import RUN, framed
from tests.reports.conftest import MakeScope
from tests.reports.pod_pipeline import bubbles


def built(scope: Scope, *rows: dict[str, Any]) -> Content:
    return SECTION.build(framed({PipelineBubbles: list(rows)}), scope)


def plain(text: str) -> str:
    return text.replace("\u202f", " ")


def test_the_finding_names_what_adds_most(scope: Scope) -> None:
    # 3 x 18 s + 6 s of a bubble, 3 x 20 s + 32 s of compute, 4 x 40 s of steps
    content = built(scope, *bubbles(RUN))
    assert plain(content.heading) == (
        "The pipeline's bubble is 65.2 % of compute where its schedule has 18.8 % in"
        " balance, and takes 37.5 % of the steps; stages out of balance add most."
    )
    layout, causes, reconciled = content.paragraphs
    assert "straggler wait and exposed communication" in plain(reconciled)
    assert plain(layout) == (
        "Seen in 10 traced steps: 4 stages, 2 chunks of layers each and 8"
        " micro-batches in a step and replica."
    )
    assert plain(causes) == (
        "Of 60.0 s in GPU time, by replay of the same operations: stages out of balance"
        " add 28.0 s, slow workers and unequal micro-batches add 4.00 s and transfers"
        " between stages add 4.00 s. The rest is the schedule's."
    )
    stages, added = content.charts
    assert added.numbers.row(0) == (60.0, 28.0, 4.0, 4.0)
    assert stages.numbers["expected"].to_list() == [3 / 16] * 4
    assert [row[1] for row in content.listings[0].rows] == ["0", "1", "2", "3"]


def test_causes_that_are_not_told_apart_are_told_together(scope: Scope) -> None:
    untold = {"imbalance_ns": None, "straggler_ns": None, "reason": "few replicas"}
    content = built(scope, *[row | untold for row in bubbles(RUN)])
    both = "slow workers and stages out of balance, not told apart, add"
    assert content.heading.endswith(f"; {both} most.")
    assert f"{both} 32.0 s" in plain(content.paragraphs[1])
    assert content.paragraphs[-1] == "Limits: few replicas."
    assert [chart.name for chart in content.charts] == ["bubble-stages"]


def test_a_bubble_of_the_schedule_is_said_to_be_that(scope: Scope) -> None:
    rows = [
        row | {"bubble_ns": 4 * 10**9, "compute_ns": 20 * 10**9} for row in bubbles(RUN)
    ]
    heading = plain(built(scope, *rows).heading)
    assert heading == (
        "The pipeline's bubble is 20.0 % of compute, 10.0 % of the steps: about the"
        " 18.8 % that its schedule has in balance."
    )


def test_a_contradiction_is_told_and_nothing_expected(scope: Scope) -> None:
    said = "the run card says 8 stages, the trace shows 4"
    rows = [row | {"expected_ratio": None, "reason": said} for row in bubbles(RUN)]
    content = built(scope, *rows)
    assert "is not known" in content.heading
    assert content.paragraphs[-1] == f"Limits: {said}."
    assert content.charts[0].numbers["expected"].null_count() == 4


def test_without_a_number_the_reason_stands_in_the_heading(scope: Scope) -> None:
    row = {"run_id": RUN, "attempt": 0, "trace_id": "t", "steps_count": 3}
    content = built(scope, row | {"reason": "the pipeline stage is not told"})
    assert content.heading.endswith("is not known: the pipeline stage is not told.")
    assert content.empty


def test_stages_of_several_runs_are_told_apart(make_scope: MakeScope) -> None:
    content = built(make_scope(), *bubbles("one"), *bubbles("two"))
    labels = {row["label"] for row in content.charts[0].spec["datasets"].popitem()[1]}
    assert {"one \N{MIDDLE DOT} stage 0", "two \N{MIDDLE DOT} stage 3"} <= labels


def test_a_run_that_operations_tell_has_no_untraced_gpus(scope: Scope) -> None:
    booked = {"run_id": RUN, "attempt": 0, "day": "2026-11-18", "gpu_ns": Decimal(5)}
    told = booked | {"category": "productive", "basis": "operations"}
    untold = booked | {"category": "unattributed", "basis": "none"}
    runs = [{"run_id": RUN, "gpu_count": 8}]
    assert untraced(framed({Runs: runs, LostTime: [told]}), scope) is None
    assert untraced(framed({Runs: runs, LostTime: [told, untold]}), scope) is not None
