"""The page claims no more than its evidence: traces, few steps, readings, words."""

from decimal import Decimal
from typing import Any

import pytest

from analysis.attempts import Attempts
from analysis.energy import Energy
from analysis.late_ranks import LateRanks
from analysis.replays import Replays
from analysis.stragglers import StragglerRanks, StragglerTests
from ingest.tables import StepTimings
from reports import cost, energy, first_steps, interruptions, stragglers
from reports._glossary import GLOSSARY
from reports._section import Listing, Scope
from tests.reports.builder import SLOW_RANK, framed
from tests.reports.pod import pod


def plain(text: object) -> str:
    """A text with ordinary spaces."""
    return str(text).replace("\u202f", " ")


@pytest.fixture
def rows() -> dict[Any, Any]:
    """The pod."""
    return dict(pod())


def told(rows: dict[Any, Any], scope: Scope) -> str:
    """The sentences on slow GPUs."""
    return plain(" ".join(stragglers.build(framed(rows), scope).paragraphs))


def capped(listing: Listing) -> tuple[Any, ...]:
    """What lifting the power cap of the pod's slow GPU would save."""
    return next(row for row in listing.rows if str(row[0]).startswith("lift the"))


def untested(rows: dict[Any, Any]) -> dict[Any, Any]:
    """The pod, seen in too few steps for a test."""
    test = rows[StragglerTests][0]
    changed = {"verdict": "too_few_steps", "ranks_tested": 0, "ranks_untested": 8}
    few = test | changed | {"steps_tested": 3, "smallest_visible_ratio": None}
    return rows | {StragglerTests: [few], StragglerRanks: []}


def test_scatter_is_told_of_tested_runs_only(
    rows: dict[Any, Any], scope: Scope
) -> None:
    assert "Scatter alone, with nobody slow, cost 1.00 GPU-hours" in told(rows, scope)
    text = told(untested(rows), scope)
    assert "Scatter" not in text
    assert (
        "Not testable: run pod-a-main with 8 ranks, because its steps are too few for"
        " a test (3 with known waits)."
    ) in text
    rows = untested(rows)
    del rows[StepTimings], rows[Replays]
    hint = stragglers.build(framed(rows), scope).empty
    assert hint is not None
    assert hint.startswith("A test takes 21 steps with waits")


def test_collectives_agree_with_a_slow_rank_only(
    rows: dict[Any, Any], scope: Scope
) -> None:
    shown = "show rank 7 last in 33 of 40, beyond chance."
    assert f"Collectives agree: they {shown}" in told(rows, scope)
    assert f"Collectives {shown}" in told(untested(rows), scope)
    rows[StragglerRanks] = [rows[StragglerRanks][0] | {"rank": SLOW_RANK - 1}]
    assert f"Collectives {shown}" in told(rows, scope)


def test_nothing_is_said_where_nobody_is_late(
    rows: dict[Any, Any], scope: Scope
) -> None:
    chance = {"is_late": False, "verdict": "within_chance"}
    rows[LateRanks] = [row | chance for row in rows[LateRanks]]
    assert "Collectives" not in told(rows, scope)


def test_traces_tell_of_no_day(rows: dict[Any, Any], scope: Scope) -> None:
    rows[Attempts] = [
        row | {"basis": "traces", "step_basis": "traces"} for row in rows[Attempts]
    ]
    content = first_steps.build(framed(rows), scope)
    (listing,) = content.listings
    for row in listing.rows:
        assert row[2:4] == ("not known: traces are samples",) * 2
    # 12.5 of 500 USD
    assert plain(capped(listing)[1]) == "12.5 USD, 2.5 % of the traced time"
    assert " a day" not in content.heading
    assert content.heading.endswith("9.0\u202f% of the traced time.")
    assert any("traces are samples" in said for said in content.paragraphs)
    assert " a day" not in stragglers.build(framed(rows), scope).heading


def test_a_job_list_tells_of_days_even_where_traces_tell_of_steps(
    rows: dict[Any, Any], scope: Scope
) -> None:
    rows[Attempts] = [row | {"step_basis": "traces"} for row in rows[Attempts]]
    (listing,) = first_steps.build(framed(rows), scope).listings
    assert plain(capped(listing)[2]) == "25.0 USD"
    assert plain(listing.columns[2].title).endswith("so (seen for 12.0 h)")
    assert capped(listing)[3] == "not known"


def test_a_slow_gpu_is_named_by_rank_and_host(
    rows: dict[Any, Any], scope: Scope
) -> None:
    content = stragglers.build(framed(rows), scope)
    assert content.heading.startswith("Rank 7 on node-b12 ran")
    (row,) = content.listings[0].rows
    assert row[:2] == ("Rank 7 on node-b12", "GPU-0007-aaaa-bbbb")
    ranking = str(content.charts[-1].spec)
    assert "'label': 'Rank 7 on node-b12'" in ranking
    assert "'identity': 'GPU-0007-aaaa-bbbb'" in ranking


def test_a_gpu_of_several_ranks_is_named_by_its_host(
    rows: dict[Any, Any], scope: Scope
) -> None:
    rows[StragglerRanks] = [rows[StragglerRanks][0] | {"rank": None}]
    heading = stragglers.build(framed(rows), scope).heading
    assert heading.startswith("A GPU on node-b12 (")


def test_waiting_for_checkpoints_is_not_broken(
    rows: dict[Any, Any], scope: Scope
) -> None:
    from analysis.lost_time import LostTime

    stall = rows[LostTime][0] | {"category": "checkpoint_stall"}
    rows[LostTime] = [*rows[LostTime], stall | {"gpu_ns": Decimal(36 * 10**12)}]
    tiles = {tile.label: tile for tile in cost.build(framed(rows), scope).figures}
    # restart 25 and recompute 20 USD; data stalls 10 USD, 10 hours of checkpoints 25
    assert plain(tiles["broken"].note) == "45 USD"
    assert plain(tiles["stalls"].note) == "35 USD"
    assert "checkpoint stall" in tiles["stalls"].definition


def test_a_peak_says_which_readings_it_is_of(
    rows: dict[Any, Any], scope: Scope
) -> None:
    content = energy.build(framed(rows), scope)
    assert "greatest of instant and averaged readings" in " ".join(content.paragraphs)
    columns = [column for each in content.listings for column in each.columns]
    peak = next(column for column in columns if column.title == "Peak W")
    assert "instant or averaged" in peak.meaning
    rows[Energy] = [row | {"peak_w": None} for row in rows[Energy]]
    assert "Peaks" not in " ".join(energy.build(framed(rows), scope).paragraphs)


def test_inferred_lines_count_and_that_is_said(
    rows: dict[Any, Any], scope: Scope
) -> None:
    text = " ".join(interruptions.build(framed(rows), scope).paragraphs)
    assert "24 failure lines" in text
    assert "inferred from words" in text
    meanings = {one.term: one.meaning for one in GLOSSARY}
    assert "inferred from words" in meanings["failure line"]


def test_clocks_lose_their_offset_and_their_drift() -> None:
    (residual,) = [one for one in GLOSSARY if one.term == "clock residual"]
    assert "after the offset and the drift of each clock" in residual.meaning
