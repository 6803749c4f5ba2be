"""The section of replays: what it finds, how far it is trusted, what is missing."""

from typing import Any

import pytest

from analysis.replays import ReplayCells, Replays
from reports import replays
from reports._section import Content, Scope
from tests.reports import pod_replays
from tests.reports.builder import RUN, framed


def built(scope: Scope, **changed: Any) -> Content:
    """The section of the pod, its simulated trace changed."""
    rows = pod_replays.replays(RUN)
    rows[Replays][0] |= changed
    return replays.build(framed(rows), scope)


def plain(text: str) -> str:
    return text.replace("\u202f", " ")


def test_a_slow_worker_is_named(scope: Scope) -> None:
    content = built(scope)
    assert plain(content.heading) == (
        "Steps take 1.30 times as long as with all operations alike, 600 ms more each:"
        " one slow worker, replica 1 of stage 1 (rank 5)."
    )
    first, second, *more = (plain(text) for text in content.paragraphs)
    assert first == "Passes of dp 1 stage 1 (rank 5) take 1.50 times as long."
    assert second == (
        "Simulated with measured operations a step takes 2.60 s, in fact 2.65 s (mean"
        " of 5 steps): off by 1.9 %, and up to 5.0 % is relied on. Ideal is 2.00 s, so"
        " that 23.1 % of the time is lost to operations that are not alike."
    )
    left_out = (
        "1 step left out, whose operations differ from those of most steps or have"
        " lengths that cannot be."
    )
    assert more == [
        left_out,
        "1 trace could not be simulated; see the table.",
    ]


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("last_stage", "a last stage with too much work."),
        ("sequence_length", "sequences of unequal length."),
        ("mixed", "no single cause."),
    ],
)
def test_other_causes_in_words(scope: Scope, cause: str, words: str) -> None:
    assert built(scope, cause=cause).heading.endswith(f"more each: {words}")


def test_a_part_of_a_job_is_no_finding(scope: Scope) -> None:
    why = "1 of 4 replicas missing or left out: what transfers take is not told"
    lacking = {"is_reliable": False, "cause": "undecided", "reason": why}
    content = built(scope, **lacking, evidence=f"{why}; steps take 1.300 times")
    assert content.heading.endswith(
        "but a part of the job is not in the trace: what they wait for is not known."
    )
    assert content.heading.startswith("Steps seem to take 1.30 times as long")
    assert f"Limits: {why}." in content.paragraphs


def test_a_healthy_trace_says_so(scope: Scope) -> None:
    content = built(scope, cause="not_straggling", slowdown_ratio=1.004)
    assert content.heading == (
        "Steps take 1.004 times what they would with all operations alike: a job"
        " straggles from 1.1."
    )
    assert content.paragraphs[0] == (
        "The slowest worker, replica 1 of stage 1 (rank 5), alone makes them 1.300"
        " times as long."
    )


def test_a_simulation_that_is_far_off_is_not_trusted(scope: Scope) -> None:
    content = built(scope, fidelity_ratio=0.15, is_reliable=False)
    assert plain(content.heading) == (
        "Steps seem to take 1.30 times as long as with all operations alike, but the"
        " simulation is off by 15.0 %: too far to be relied on."
    )


def test_the_field_is_drawn_worker_by_worker(scope: Scope) -> None:
    field, kinds = built(scope).charts
    cells = {(row[0], row[1]): row[2] for row in field.numbers.rows()}
    assert len(cells) == 8
    assert cells[1, 1] == 1.3
    assert cells[0, 1] == 1.0
    # what adds nothing has no bar
    assert kinds.numbers["kind"].to_list() == ["backward-compute", "forward-compute"]
    assert kinds.numbers["added_ms"].to_list() == [400.0, 200.0]


def test_a_fleet_is_drawn_in_few_cells(scope: Scope) -> None:
    rows = pod_replays.replays(RUN)
    worker = next(row for row in rows[ReplayCells] if row["scope"] == "worker")
    rows[ReplayCells] = [
        worker
        | {
            "pp_rank": stage,
            "dp_rank": replica,
            "rank": stage * 128 + replica,
            "slowdown_ratio": 1.5 if (stage, replica) == (63, 127) else 1.0,
        }
        for stage in range(64)
        for replica in range(128)
    ]
    (field,) = replays.build(framed(rows), scope).charts
    # 64 stages by twos, 128 replicas by twos; the slowest of four is drawn
    assert field.numbers.height == 32 * 64
    assert field.numbers.rows()[-1] == (62, 126, 1.5)
    assert "a cell is 2 stages by 2 replicas" in plain(field.sample)


def test_only_traces_that_cannot_be_simulated(scope: Scope) -> None:
    rows = pod_replays.replays(RUN)
    rows[Replays] = rows[Replays][1:]
    content = replays.build(framed(rows), scope)
    assert content.heading == (
        "No traced step could be simulated: the start of some operations is not told."
    )
    assert content.empty
    assert len(content.listings) == 1
