"""What can be claimed of a provider, whose stops were, and what planned ones cost."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from analysis.incidents import IncidentEvents, Incidents
from analysis.interruptions import Interruptions
from analysis.loss_phases import LossPhases
from ingest.tables import Jobs
from reports import interruptions
from reports._section import Content, Listing, Scope
from tests.reports.builder import HOSTS, HOUR, RUN, START, Row, framed
from tests.reports.pod import pod

DAY = 24 * HOUR


def history() -> dict[Any, list[Row]]:
    """Twelve stops by hardware, each an hour of a GPU more than the one before it.

    One by software, one by hardware on no node, one that was planned.
    """
    stop, incident = pod()[Interruptions][0], pod()[Incidents][0]
    incident |= {"category": "hardware", "host_count": 1, "severity": "fatal"}
    kinds: list[Row] = [{"host": HOSTS[1]}] * 12 + [
        {"category": "software"},
        {"host": None, "host_count": 0},
        {"severity": "info", "root_source": "operator", "name": "Firmware upgrade"},
    ]
    rows: dict[Any, list[Row]] = {Interruptions: [], Incidents: [], LossPhases: []}
    for n, kind in enumerate(kinds):
        key = {"attempt": n, "incident_id": f"incident-{n:02}"}
        is_planned = "name" in kind
        whose = {"category": kind.get("category", "hardware"), "planned": is_planned}
        rows[Interruptions].append(stop | key | whose)
        first = {"first_ns": START - n * DAY, "incident_id": key["incident_id"]}
        rows[Incidents].append(incident | first | kind)
        phase = pod()[LossPhases][0] | {"attempt": n, "planned": is_planned}
        rows[LossPhases].append(phase | {"gpu_ns": Decimal((n + 1) * HOUR)})
    return rows


def built(scope: Scope, days: str | None = "10") -> Content:
    if days is not None:
        settings = {"claim_window_days": days}
        scope = replace(scope, provenance=replace(scope.provenance, settings=settings))
    content = interruptions.SECTION.build(framed(pod() | history()), scope)
    assert isinstance(content, Content)
    return content


def said(content: Content) -> str:
    return " ".join(content.paragraphs).replace("\u202f", " ").replace("\u00a0", " ")


def titled(content: Content, start: str) -> Listing:
    return next(one for one in content.listings if one.title.startswith(start))


def test_claims_are_ten_rows_and_the_sum_of_all(scope: Scope) -> None:
    # made a day after START: what began 0 to 9 days before START has ended after 9
    # days of ten; 1 + 2 + ... + 12 GPU-hours are 78, at 2.5 USD 195 USD
    listing = titled(built(scope), "What can be claimed")
    assert len(listing.rows) == 10
    assert listing.total[4:6] == ("78.00", "195.00")
    assert listing.more == "2 more incidents, in the sum"
    until = [str(row[6]) for row in listing.rows]
    assert [text.endswith("over") for text in until] == [False] * 10
    assert until[0].endswith("0 days left")
    assert until[-1].endswith("9 days left")
    assert listing.rows[-1][4:6] == ("1.00", "2.50")


def test_the_window_is_said_with_how_many_it_still_holds(scope: Scope) -> None:
    told = said(built(scope))
    assert "12 incidents, 78.00 GPU-hours, 195.00 USD. Within 10 days" in told
    assert "10 can still be claimed, for 2 that is over" in told
    assert "1 more stop by such a cause named no node" in told


def test_without_the_setting_there_is_no_date(scope: Scope) -> None:
    listing = titled(built(scope, None), "What can be claimed")
    assert {row[6] for row in listing.rows} == {"not known"}


def test_users_stand_against_infrastructure(scope: Scope) -> None:
    told = said(built(scope))
    assert "0 stops by users, 13 by infrastructure" in told
    assert "of neither: 1 software." in told


def test_planned_stops_cost_apart_from_the_others(scope: Scope) -> None:
    # 1 + ... + 14 GPU-hours are 105, the planned one 15
    assert "Unplanned stops cost 262" in said(built(scope))
    assert "planned ones 37.5 USD (1)." in said(built(scope))


def test_what_was_planned_is_no_root_cause(scope: Scope) -> None:
    content = built(scope)
    assert "14 root causes in the logs: Xid 79 (14)" in said(content)
    rows = titled(content, "Interruptions, the latest").rows
    assert all("operator" not in str(cell) for row in rows for cell in row)


@pytest.mark.parametrize(
    ("jobs", "told"),
    [
        ([], "not known; no job list"),
        ([{"job_id": "9", "cluster": "pod-a"}], "looked, none; 1 job of others"),
    ],
)
def test_no_job_that_made_room_is_said(
    scope: Scope, jobs: list[Row], told: str
) -> None:
    content = interruptions.SECTION.build(framed(pod() | {Jobs: jobs}), scope)
    assert f"Second-order cost: {told}" in said(content)


def test_a_stop_comes_with_what_to_do_about_it(scope: Scope) -> None:
    incident = pod()[Incidents][0] | {"severity": "fatal", "action": "reboot_node"}
    event = {"incident_id": "incident-1", "source": "xid", "code": "79"}
    event |= {"severity": "error", "action": "reset_gpu", "run_id": RUN}
    rows = pod() | {Incidents: [incident], IncidentEvents: [event]}

    def to_do() -> str:
        content = interruptions.SECTION.build(framed(rows), scope)
        ((*_, bad, _still, _cost),) = titled(content, "Interruptions, the").rows
        return str(bad)

    assert to_do() == "fatal: reboot node"
    # an operator's own word has no catalogue: the codes that came with it do
    incident["action"] = None
    assert to_do() == "fatal: reset GPU"
