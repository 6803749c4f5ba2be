"""What the page says of runs of which only traces tell."""

from typing import Any

import pytest

from analysis.attempts import Attempts
from analysis.replays import Replays
from analysis.runs import Runs
from analysis.section_scores import SectionScores
from analysis.stragglers import StragglerTests
from ingest.tables import GroupStatus, Operations
from reports import _blind_work, interruptions, stragglers
from reports._section import Scope
from tests.reports import pod_replays
from tests.reports.builder import RUN, START, S, framed
from tests.reports.conftest import MakeScope

UNTESTED = {"run_id": RUN, "ranks_untested": 8, "verdict": "too_few_peers"}


@pytest.mark.parametrize(
    ("cause", "named"),
    [
        ("worker", "rank 5 (replica 1 of stage 1)"),
        ("last_stage", "stage 1, slower than the other stages"),
    ],
)
def test_a_replay_names_what_no_test_could(
    scope: Scope, cause: str, named: str
) -> None:
    rows: dict[Any, Any] = pod_replays.replays(RUN) | {StragglerTests: [UNTESTED]}
    rows[Replays][0] |= {"cause": cause}
    content = stragglers.build(framed(rows), scope)
    assert content.heading == (
        f"Too few peers to test which GPU was slow; the replay names {named}."
    )
    assert content.paragraphs[0].startswith("See Replay")
    assert content.empty is None


def test_a_replay_not_to_be_relied_on_names_nobody(scope: Scope) -> None:
    rows: dict[Any, Any] = pod_replays.replays(RUN) | {StragglerTests: [UNTESTED]}
    rows[Replays][0] |= {"is_reliable": False}
    content = stragglers.build(framed(rows), scope)
    assert content.heading == "Whether a GPU was slow cannot be told."
    assert content.empty


def test_scores_are_no_absence_of_data(scope: Scope) -> None:
    score = {"run_id": RUN, "section": "step", "rank": 1, "relative_score": 0.5}
    rows: dict[Any, Any] = {
        StragglerTests: [UNTESTED],
        SectionScores: [score | {"reports_count": 1, "is_flagged": True}],
    }
    content = stragglers.build(framed(rows), scope)
    assert content.empty is None
    assert content.listings


def attempt(run: str, basis: str, start: int = START) -> dict[str, Any]:
    ends = {"start_ns": start, "end_ns": start + S}
    return {"run_id": run, "attempt": 0, "basis": basis} | ends


def test_traces_do_not_tell_of_interruptions(scope: Scope) -> None:
    rows: dict[Any, Any] = {Attempts: [attempt(RUN, "traces", 0)]}
    content = interruptions.build(framed(rows), scope)
    assert content.heading == (
        "Whether the run was interrupted is not known: only traces were read."
    )
    assert content.empty
    assert not content.charts
    rows[GroupStatus] = [{"run_id": RUN, "dump_id": "d"}]
    heading = interruptions.build(framed(rows), scope).heading
    assert heading.endswith("only traces or dumps were read.")


def test_a_run_of_traces_beside_one_with_a_step_log(make_scope: MakeScope) -> None:
    rows: dict[Any, Any] = {
        Attempts: [attempt("logged", "steps"), attempt("traced", "traces")]
    }
    content = interruptions.build(framed(rows), make_scope("logged", "traced"))
    assert content.heading == (
        "1 run ran without an unplanned interruption."
        " Of 1 more run only traces were read: not known."
    )
    (lanes,) = content.charts
    assert lanes.numbers["run_id"].to_list() == ["logged"]


def test_workers_of_an_untold_width_are_a_blind_spot(scope: Scope) -> None:
    place = {"run_id": RUN, "attempt": 0, "trace_id": "t", "step": 0, "kind": "forward"}
    operations = [
        place | {"rank": 4 * dp + pp, "dp_rank": dp, "pp_rank": pp}
        for dp in range(4)
        for pp in range(4)
    ]
    rows: dict[Any, Any] = {Operations: operations, Runs: [{"run_id": RUN}]}
    spot = _blind_work.workers(framed(rows), scope)
    assert spot is not None
    assert spot.how_much.startswith("16 workers recorded, tp not told")
    rows[Runs] = [{"run_id": RUN, "tp": 8}]
    assert _blind_work.workers(framed(rows), scope) is None
