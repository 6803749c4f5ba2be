"""The page about one incident: its facts, its cost, and nothing about others."""

import re
from html import unescape

import pytest

from analysis.incidents import Incidents
from analysis.interruptions import Interruptions
from analysis.loss_phases import LossPhases
from ingest.quoting import Line, Quotes
from ingest.tables import Table
from reports import claim
from reports._section import Scope
from tests.reports.builder import Row, S, framed
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
        "Cause Xid 79, GPU has fallen off the bus",
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
    # how long they took is not known here, so that the sum is no less than the rest
    assert "together at least 40.0 min 1.7667 4.42" in said
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
    assert "1 message of 1 file, not to the letter." in said
    assert "grep" not in said


def test_of_a_table_the_row_is_quoted_with_the_names_of_its_columns(
    scope: Scope,
) -> None:
    row = Line(7, "2026-11-18 12:06:40,GPU,lost", MESSAGE)
    said = text(made(scope, tables(), Quotes((Line(1, "start,part,why"), row))).html)
    assert "line 1 names of the columns start,part,why" in said
    assert f"line 7 2026-11-18 12:06:40.000000 UTC {row.text}" in said
    assert "Whole rows, read again" in said


def test_every_line_has_a_time_in_utc(scope: Scope) -> None:
    # 12:06:41.25 +01:00, and a line without a stamp beside it
    after = Line(44, LINE.replace(":41", ":41.25").replace(MESSAGE, "NVRM: more"))
    bare = Line(45, "NVRM: still more")
    said = text(made(scope, tables(), Quotes((Line(43, LINE), after, bare))).html)
    assert "line 44 2026-11-18 11:06:41.250000 UTC" in said
    assert "line 45 beside line 43" in said


def test_the_gpu_that_only_the_lines_name_is_the_one(scope: Scope) -> None:
    rows = tables()
    rows[Incidents][0]["gpu_key"] = None
    said = text(made(scope, rows).html)
    assert f"GPU UUID {UUID}" in said
    assert "Which GPU it was" not in said


def test_what_was_paid_while_it_waited_is_said_as_it_was_booked(scope: Scope) -> None:
    rows = tables()
    assert "nothing while it waited in a queue" in text(made(scope, rows).html)
    for row in rows[LossPhases]:
        row["gpu_ns"] = row["gpu_ns"] or 4 * S
    assert "its nodes stayed reserved" in text(made(scope, rows).html)


def test_a_cost_that_is_not_known_is_no_zero(scope: Scope) -> None:
    rows = tables()
    for row in rows[LossPhases]:
        row["gpu_ns"] = None if row["phase"] == "hang" else row["gpu_ns"]
    assert "first sign 30.0 s not known not known" in text(made(scope, rows).html)


def test_an_incident_that_stopped_nothing_says_so(scope: Scope) -> None:
    rows = tables() | {Interruptions: []}
    page = made(scope, rows)
    assert page.headline.endswith("no stop of a run is laid to it.")
    assert "is not known from this" in text(page.html)


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
    assert "on node node-b12" in said
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
