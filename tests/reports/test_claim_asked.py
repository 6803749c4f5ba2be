"""What the page about an incident asks for, and what is kept off it."""

import pytest

from analysis.incidents import IncidentEvents, Incidents
from analysis.lemon_nodes import LemonNodes
from ingest.tables import Failures
from reports import claim
from reports._section import Scope
from tests.reports.builder import Row, framed
from tests.reports.claimed import UUID, tables
from tests.reports.test_claim import made, text


def test_it_counts_down_from_the_first_sign_off_the_page(scope: Scope) -> None:
    # made 24 h after START, 23 h after the first sign: 9 whole days are left of ten
    page = made(scope, tables())
    due = "ends on 2026-11-28 12:06:40 UTC, 9 whole days after this page."
    assert due in page.notes[0]
    late = claim.build(framed(tables()), "abcd1234", {}, scope, 0.5)
    assert "ended on 2026-11-19 00:06:40 UTC, 0 days before this page." in late.notes[0]
    said = text(page.html)
    for own in (due, "contract:", "legal advice", "CoreWeave", "claim_window_days"):
        assert own not in said
    assert "CoreWeave" in page.notes[-1]


def test_it_says_what_is_asked_for_and_leaves_room_for_whom(scope: Scope) -> None:
    html = made(scope, tables()).html
    said = text(html)
    assert "A credit for 1.7667 GPU-hours, 4.42 USD, and a repair." in said
    assert f"A check of node-b12, GPU UUID {UUID}" in said
    assert html.count('class="to-fill"') == 4


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"category": "user"}, "its cause is the application or who runs it"),
        ({"category": "software"}, "its cause is software"),
        ({"category": "maintenance"}, "its cause is maintenance"),
        ({"category": "unattributed"}, "its cause is not known"),
        ({"root_source": "operator", "severity": "info"}, "it was planned work"),
    ],
)
def test_what_is_not_the_providers_is_said_first(
    scope: Scope, changed: Row, why: str
) -> None:
    rows = tables()
    rows[Incidents][0] |= changed
    page = made(scope, rows)
    told = f"points at the provider: {why}. What, where"
    assert told in text(page.html)
    assert page.notes[0].endswith(f"nothing here points at the provider, {why}.")
    assert "no credit is asked for" in text(page.html)
    assert "points at the provider" not in text(made(scope, tables()).html)


def test_without_a_node_nothing_points_at_the_provider(scope: Scope) -> None:
    rows = tables()
    for table in (Incidents, IncidentEvents, Failures):
        rows[table][0]["host"] = None
    page = made(scope, rows)
    assert "at the provider: no source names a node." in text(page.html)
    assert "on a node that no source names" in page.headline


def test_a_node_that_fails_too_often_is_held_against_the_others(scope: Scope) -> None:
    row = {"cluster": "pod-a", "host": "node-b12", "failures": 7, "expected": 0.6}
    row |= {"p_value": 1e-5, "threshold_p_value": 0.001, "is_lemon": True}
    said = text(made(scope, tables() | {LemonNodes: [row]}).html)
    assert "It failed 7 times while runs held it" in said
    assert "0.60: more often than chance explains (p = 0.000010" in said


def test_what_people_wrote_down_is_said_as_they_wrote_it(scope: Scope) -> None:
    rows = tables()
    told = {"name": "Faulty GPU"}
    rows[Incidents][0] |= told | {"root_source": "operator", "root_code": "faulty_gpu"}
    for table in (IncidentEvents, Failures):
        rows[table][0] |= told | {"source": "operator", "code": "faulty_gpu"}
    page = made(scope, rows)
    assert page.headline.startswith("Faulty GPU, on node node-b12 (GPU at PCI address")
    assert "faulty_gpu" not in text(page.html)
    assert "The clock is that of whoever kept the list" in text(page.html)


def test_every_code_of_its_lines_is_explained(scope: Scope) -> None:
    rows = tables()
    told = {"code": "45", "name": "work removed", "action": "follow_other_code"}
    rows[IncidentEvents].append(rows[IncidentEvents][0] | told)
    rows[Failures].append(rows[Failures][0] | told | {"message": "NVRM: Xid 45"})
    said = text(made(scope, rows).html)
    assert "Xid 45 work removed fatal follow other code 1" in said
