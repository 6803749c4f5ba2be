"""Where to look first: hangs, replays that are withheld, and sections with data."""

from typing import Any

from analysis.lost_time import LostTime
from analysis.overlap import Overlap
from analysis.whatif import WhatIf
from reports import first_steps
from reports._section import Content, Link, Scope
from tests.reports import pod_hangs
from tests.reports.builder import RUN, framed
from tests.reports.pod import pod
from tests.reports.pod_repairs import answer
from tests.reports.test_one_rounding import SMALL, ledger


def built(rows: dict[Any, Any], scope: Scope) -> Content:
    return first_steps.build(framed(rows), scope)


def test_a_hang_is_looked_at_where_nothing_else_stands_out(scope: Scope) -> None:
    content = built(dict(pod_hangs.hangs()), scope)
    assert content.heading == (
        "First: look at rank 5: the hang began there (see Hangs)."
    )
    assert content.empty is None


def test_a_hang_is_said_beside_repairs(scope: Scope) -> None:
    content = built(dict(pod()) | dict(pod_hangs.hangs()), scope)
    assert content.heading.startswith("First: ")
    assert content.paragraphs[1].startswith("Beside repairs, look at rank 5: ")


def test_answers_that_cannot_be_relied_on_are_said_to_be_withheld(
    scope: Scope,
) -> None:
    doubted = answer(RUN, "everything", "everything", 1) | {
        "method": "replay",
        "is_reliable": False,
        "doubt": "simulated steps miss the real ones by 15.1 %",
    }
    content = built({WhatIf: [doubted]}, scope)
    (told,) = content.paragraphs
    assert told == (
        "Savings by replay are withheld: simulated steps miss the real ones by 15.1 %"
        " (see Replay)."
    )


def links(rows: dict[Any, Any], scope: Scope) -> dict[str, str]:
    """Section that each repair leads to."""
    (listing,) = built(rows, scope).listings
    cells = {str(row[0]): row[5] for row in listing.rows}
    return {
        what: cell.section for what, cell in cells.items() if isinstance(cell, Link)
    }


def test_without_traces_of_kernels_the_ledger_is_the_evidence(scope: Scope) -> None:
    rows: dict[Any, Any] = {LostTime: ledger(SMALL)}
    found = links(rows, scope)
    assert found["close gaps between operations"] == "lost_time"
    assert found["hide communication behind compute"] == "lost_time"
    rows[Overlap] = [{"run_id": RUN, "attempt": 0, "trace_id": "t", "span_ns": 1}]
    assert links(rows, scope)["close gaps between kernels"] == "overlap"
