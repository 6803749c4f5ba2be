"""The page about one incident: its facts, its cost, and nothing about others."""

import re
from html import unescape

import pytest

from analysis.incidents import Incidents
from analysis.interruptions import Interruptions
from analysis.lemon_nodes import LemonNodes
from ingest.quoting import Line, Quotes
from ingest.tables import Table
from reports import claim
from reports._section import Scope
from tests.reports.builder import Row, framed
from tests.reports.claimed import DAYS, LINE, MESSAGE, UUID, tables
from tests.reports.test_page import HOSTILE, parsed


def made(
    scope: Scope, rows: dict[type[Table], list[Row]], quotes: Quotes | None = None
) -> claim.Claim:
    found = {} if quotes is None else {"f": quotes}
    return claim.build(framed(rows), "abcd1234", found, scope, DAYS)


def text(page: str) -> str:
    """What a page says, its spaces made one."""
    bare = unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL))
    return " ".join(bare.split())


@pytest.fixture
def quoted() -> Quotes:
    """The line, found again in its file."""
    return Quotes((Line(43, LINE),), serial="1652836155019")


def test_it_says_what_where_when_and_whose(scope: Scope, quoted: Quotes) -> None:
    said = text(made(scope, tables(), quoted).html)
    for fact in (
        "Xid 79: GPU has fallen off the bus",
        "First sign 2026-11-18 12:06:40.000000 UTC",
        "Node node-b12",
        f"GPU UUID {UUID}",
        "GPU serial 1652836155019",
        "PCI address 0000:5d:00",
        "Rank in the run 3",
        "Action by catalogue reboot node",
        "job 48217",
        "line 43",
        LINE,
        "5e" * 32,
    ):
        assert fact in said


def test_it_costs_what_was_paid_in_each_phase(scope: Scope) -> None:
    # 4 GPUs held for 30 s, 60 s, not in the queue, 600 s; 1 GPU-hour again:
    # 4 x 690 s = 2760 s = 0.7667 GPU-hours, 1.7667 in all, at 2.50 USD 4.42 USD
    page = made(scope, tables())
    assert page.headline.endswith("stopped run pod-a-main and cost 1.7667 GPU-hours,"
                                  " 4.42 USD.")  # fmt: skip
    said = text(page.html)
    assert "last step to first sign 30.0 s 0.0333 0.08" in said
    assert "to the end of the attempt 60.0 s 0.0667 0.17" in said
    assert "to the first new step 10.0 min 0.6667 1.67" in said
    assert "steps done again 1.0000 2.50" in said
    assert "together 40.0 min 1.7667 4.42" in said
    # 4 GPUs for 2400 s, paid for or not
    assert "stood without a step for 40.0 min: 2.67 GPU-hours" in said


def test_it_tells_nothing_of_others_and_no_path(scope: Scope) -> None:
    html = made(scope, tables()).html
    assert "node-of-another" not in html
    assert "NVRM: other" not in html
    assert "/srv/secret" not in html
    assert "kern.log" in html


def test_without_the_file_it_says_how_to_find_the_line(scope: Scope) -> None:
    said = text(made(scope, tables(), Quotes(fault="it has changed")).html)
    assert MESSAGE in said
    assert f"(it has changed). To find them: grep -nF '{MESSAGE}' FILE." in said
    assert "GPU serial not known" in said
    assert "The GPU's serial: no line and no host map names it." in said


def test_a_message_put_together_from_fields_is_no_line_to_look_for(
    scope: Scope,
) -> None:
    said = text(made(scope, tables(), Quotes()).html)
    assert "Put together from fields of the source" in said
    assert "grep" not in said


def test_the_gpu_that_only_the_lines_name_is_the_one(scope: Scope) -> None:
    rows = tables()
    rows[Incidents][0]["gpu_key"] = None
    said = text(made(scope, rows).html)
    assert f"GPU UUID {UUID}" in said
    assert "Which GPU it was" not in said


def test_it_counts_down_from_the_first_sign(scope: Scope) -> None:
    # made 24 h after START, 23 h after the first sign: 9 whole days are left of ten
    page = made(scope, tables())
    due = "ends on 2026-11-28 12:06:40 UTC, 9 whole days after this page."
    assert due in page.due
    assert due in text(page.html)
    late = claim.build(framed(tables()), "abcd1234", {}, scope, 0.5)
    assert "ended on 2026-11-19 00:06:40 UTC, 0 days before this page." in late.due


def test_an_incident_that_stopped_nothing_says_so(scope: Scope) -> None:
    rows = tables() | {Interruptions: []}
    page = made(scope, rows)
    assert page.headline.endswith("no stop of a run is laid to it.")
    assert "is not known from this" in text(page.html)


def test_a_node_that_fails_too_often_is_held_against_the_others(scope: Scope) -> None:
    row = {"cluster": "pod-a", "host": "node-b12", "failures": 7, "expected": 0.6}
    row |= {"p_value": 1e-5, "threshold_p_value": 0.001, "is_lemon": True}
    said = text(made(scope, tables() | {LemonNodes: [row]}).html)
    assert "It failed 7 times while runs held it" in said
    assert "0.60: more often than chance explains (p = 0.000010" in said


def test_what_is_the_tenants_own_is_said_to_be(scope: Scope) -> None:
    rows = tables()
    assert "look at the program" not in text(made(scope, rows).html)
    rows[Incidents][0]["category"] = "user"
    assert "look at the program before it is claimed" in text(made(scope, rows).html)


def test_lines_beyond_a_hundred_are_counted(scope: Scope) -> None:
    many = Quotes(tuple(Line(number, LINE) for number in range(1, 131)))
    said = text(made(scope, tables(), many).html)
    assert "line 100" in said
    assert "line 101" not in said
    assert "30 more lines not shown." in said


def test_a_cause_of_several_nodes_names_them(scope: Scope) -> None:
    rows = tables()
    rows[Incidents][0]["host"] = None
    said = text(made(scope, rows).html)
    assert "on several nodes or none named" in said
    assert "there is no history of one node" in said


def test_hostile_names_add_nothing_but_text(scope: Scope) -> None:
    plain = parsed(made(scope, tables()).html)
    hostile = parsed(made(scope, tables(HOSTILE, HOSTILE)).html)
    assert hostile.count == plain.count
    assert "<img src=x onerror=alert(1)>" in " ".join(hostile.text)


def test_it_runs_no_script_and_fetches_nothing(scope: Scope, quoted: Quotes) -> None:
    html = made(scope, tables(), quoted).html
    assert parsed(html).count["script"] == 0
    assert "default-src &#39;none&#39;" in html
    assert len(html) < 40_000
