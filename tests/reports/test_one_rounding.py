"""What is seen adds up, and a number is the same wherever it stands on the page."""

import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.lost_time import LostTime
from analysis.runs import Runs
from reports import cost, first_steps, lost_time, unknown
from reports._ledger import ACCOUNTS, Account, unit_for
from reports._ledger_shown import of, shown, together
from reports._numbers import brief, part_in_words
from reports._section import Scope
from reports.theme import MEANING_OF_ACCOUNT
from tests.reports.builder import RUN, framed
from tests.reports.pod import pod

UNIT = Decimal("0.001")

# eight GPUs, 14.7 ms: what a profile of one step holds [ns]
SMALL = {
    "productive": 8_864_321,
    "idle": 61_548_777,
    "straggler_wait": 45_312_346,
    "exposed_communication": 1_572_949,
    "unattributed": 40_149_999,
}


def plain(text: object) -> str:
    """A text with ordinary spaces."""
    return str(text).replace("\u202f", " ")


def number(text: object) -> Decimal:
    """A number as the page writes it; less than a tenth stands for none."""
    found = plain(text)
    if found.startswith("<"):
        return Decimal()
    return Decimal(re.sub(r"[^0-9.]", "", found))


def ledger(times: dict[str, int]) -> list[dict[str, Any]]:
    """Rows of an account each."""
    return [
        {
            "run_id": RUN,
            "attempt": 0,
            "day": "2026-11-18",
            "category": category,
            "basis": "collectives",
            "gpu_ns": Decimal(gpu_ns),
        }
        for category, gpu_ns in times.items()
    ]


@pytest.fixture
def small() -> dict[Any, Any]:
    """The pod with a ledger of milliseconds."""
    rows: dict[Any, Any] = pod()
    rows[LostTime] = ledger(SMALL)
    return rows


def test_shares_add_up_in_the_table_and_in_the_tiles(
    small: dict[Any, Any], scope: Scope
) -> None:
    frames = framed(small)
    (listing,) = lost_time.build(frames, scope).listings
    assert sum(number(row[3]) for row in listing.rows) == 100
    assert plain(listing.total[3]) == "100 %"
    tiles = cost.build(frames, scope).figures[1:]
    assert sum(number(tile.value) for tile in tiles) == 100


def test_tiles_add_up_to_what_was_paid(small: dict[Any, Any], scope: Scope) -> None:
    paid, *parts = cost.build(framed(small), scope).figures
    assert sum(number(part.note) for part in parts) == number(paid.value)


def test_a_number_is_the_same_everywhere(small: dict[Any, Any], scope: Scope) -> None:
    frames = framed(small)
    (listing,) = lost_time.build(frames, scope).listings
    table = {row[0]: row for row in listing.rows}
    tiles = {tile.label: tile for tile in cost.build(frames, scope).figures}
    spots = {row[0]: row[1] for row in unknown.build(frames, scope).listings[0].rows}
    steps = {
        row[0]: row[1] for row in first_steps.build(frames, scope).listings[0].rows
    }
    for account, tile in (("productive", "useful work"), ("idle", "idle")):
        assert plain(tiles[tile].note) == f"{plain(table[account][4])} USD"
        assert tiles[tile].value == table[account][3]
    spot = plain(spots["Time paid for without evidence"])
    unseen = table["unattributed"]
    assert spot == f"{plain(unseen[3])}, {plain(unseen[2])} GPU-seconds"
    saved = plain(steps["close gaps between kernels"])
    assert saved == f"≤ {plain(table['idle'][4])} USD"


def test_the_sentence_has_the_digits_of_the_table(scope: Scope) -> None:
    frames = framed(pod())
    (listing,) = lost_time.build(frames, scope).listings
    paid, useful = listing.total, listing.rows[0]
    heading = plain(cost.build(frames, scope).heading)
    assert heading.startswith(
        f"{plain(paid[2])} GPU-hours, {plain(paid[4])} USD."
        f" {plain(useful[3])} did useful work."
    )


def test_below_a_cent_sentences_have_the_digits_of_the_table(
    small: dict[Any, Any], scope: Scope
) -> None:
    frames = framed(small)
    page = lost_time.build(frames, scope)
    assert plain(page.listings[0].total[4]) == "0.0001093"
    heading = plain(cost.build(frames, scope).heading)
    assert heading.startswith("0.1574 GPU-seconds, 0.0001093 USD. 5.6 %")
    rows = {row[0]: plain(row[4]) for row in page.listings[0].rows}
    assert page.heading.startswith("The largest account beside useful work is idle")
    assert f"{rows['idle']} USD" in plain(page.heading)
    lost = sum(number(rows[name]) for name in rows if name != "productive")
    assert f"{lost} USD went elsewhere" in heading
    assert "<" not in heading + plain(page.heading)


def test_runs_side_by_side_say_one_share_in_table_and_chart(scope: Scope) -> None:
    rows: dict[Any, Any] = pod()
    rows[LostTime] = ledger(SMALL) + [
        row | {"run_id": "second"} for row in ledger({"productive": 7, "idle": 3})
    ]
    rows[Runs] += pod("second")[Runs]
    provenance = scope.provenance.__class__(**{**vars(scope.provenance), "run_ids": ()})
    content = lost_time.build(framed(rows), Scope(scope.prices, provenance))
    chart = next(c for c in content.charts if c.name == "lost-time-runs")
    drawn = chart.spec["datasets"].values()
    told = {row["text"] for values in drawn for row in values if "text" in row}
    side = next(one for one in content.listings if one.title == "Runs side by side")
    assert {row[2] for row in side.rows} <= told


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(sorted(ACCOUNTS)), st.integers(1, 10**20), min_size=1
    )
)
def test_whatever_was_paid_parts_add_up(times: dict[str, int]) -> None:
    found = [Account(name, ns, Decimal(ns) / 10**12) for name, ns in times.items()]
    rows = shown(found, unit_for(sum(times.values())))
    paid = together("paid", rows)
    assert paid.share == 1
    meanings = {MEANING_OF_ACCOUNT[name] for name in times}
    parts = [
        of(rows, *[n for n, its in MEANING_OF_ACCOUNT.items() if its == meaning])
        for meaning in meanings
    ]
    assert sum(part.usd for part in parts) == paid.usd
    assert sum(part.time for part in parts) == paid.time
    assert sum(part.share for part in parts) == 1
    exact = Decimal(rows[0].gpu_ns) / paid.gpu_ns
    assert abs(rows[0].share - exact) < UNIT


@pytest.mark.parametrize(
    ("rounded", "exact", "written"),
    [
        ("0.554", "0.5538", "55.4 %"),
        ("0.000", "0.0002", "< 0.1 %"),
        ("1.000", "0.9997", "> 99.9 %"),
        ("1.000", "1", "100 %"),
        ("0", "0", "0 %"),
    ],
)
def test_a_rounded_share_is_never_all_or_nothing(
    rounded: str, exact: str, written: str
) -> None:
    assert plain(part_in_words(Decimal(rounded), Decimal(exact), UNIT)) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [("1.271", "1.271"), ("5310", "5 310"), ("12340", "12.34 k"), ("1.5E+6", "1.5 M")],
)
def test_rounded_numbers_lose_no_digit(value: str, written: str) -> None:
    assert plain(brief(Decimal(value))) == written
