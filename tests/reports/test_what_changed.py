"""What changed on the page: against days, another run, another lake."""

import duckdb
import pytest
from polars.testing import assert_frame_equal

from analysis.lost_time import LostTime
from analysis.stragglers import StragglerRanks
from ingest.tables import StepTimings
from reports import what_changed
from reports._section import Content, Scope
from reports.provenance import Baseline
from tests.reports.builder import HOUR, Row, framed, prices_of, provenance_of

#: Useful work of each day: the last is bad.
SHARES = (0.80, 0.81, 0.79, 0.80, 0.80, 0.60)


def ledger(run: str, shares: tuple[float, ...]) -> list[Row]:
    return [
        {"run_id": run, "attempt": 0, "day": f"2026-03-0{day + 1}", "gpu_ns": ns}
        | {"category": account, "basis": "step_parts"}
        for day, share in enumerate(shares)
        for account, ns in (
            ("productive", round(share * 100 * HOUR)),
            ("idle", round((1 - share) * 100 * HOUR)),
        )
    ]


def built(rows: list[Row], *runs: str, baseline: Baseline | None = None) -> Content:
    scope = Scope(prices_of(*runs), provenance_of(*runs), baseline)
    return what_changed.build(framed({LostTime: rows}), scope)


def plain(text: str) -> str:
    return text.replace("\N{NARROW NO-BREAK SPACE}", " ")


def test_the_last_day_is_held_against_those_before() -> None:
    content = built(ledger("r", SHARES), "r")
    assert plain(content.heading) == (
        "2026-03-06 against 2026-03-01 to 2026-03-05: worse: useful work 80.0 %"
        " \N{RIGHTWARDS ARROW} 60.0 % and idle 20.0 % \N{RIGHTWARDS ARROW} 40.0 %."
    )
    (listing,) = content.listings
    first = [plain(str(cell)) for cell in listing.rows[0]]
    # sd of the five days 0.00707, t(0.975, 4) = 2.776, times sqrt(1 + 1/5)
    assert first == [
        *("useful work", "80.0 %", "60.0 %"),
        *("\N{MINUS SIGN}20 points", "\xb12.2 points", "worse"),
    ]


def test_a_day_as_the_others_is_none(scope: Scope) -> None:
    content = built(ledger("r", (*SHARES[:5], 0.80)), "r")
    assert content.heading.endswith("nothing changed by more than its noise.")
    assert "2.2\N{NARROW NO-BREAK SPACE}points would not show" in content.paragraphs[1]


def test_two_days_are_too_few() -> None:
    content = built(ledger("r", (0.8, 0.6)), "r")
    assert content.heading.endswith("too few days to tell a change from noise.")


def test_one_day_says_what_would_be_compared() -> None:
    content = built(ledger("r", (0.8,)), "r")
    assert content.heading.startswith("There is nothing yet")
    assert content.empty is None
    assert "--compare" in content.paragraphs[0]


@pytest.mark.parametrize("by_run", [False, True])
def test_the_sql_gives_exactly_what_is_drawn(*, by_run: bool) -> None:
    rows = ledger("a", SHARES) + (ledger("b", SHARES[::-1]) if by_run else [])
    frames = framed({LostTime: rows})
    baseline = Baseline("run a", frames, ("a",)) if by_run else None
    runs = ("a", "b") if by_run else ("a",)
    (chart,) = built(rows, *runs, baseline=baseline).charts
    lake = duckdb.connect()
    lake.register("lost_time", frames[LostTime].collect().to_arrow())
    assert_frame_equal(lake.sql(chart.sql).pl(), chart.numbers, rel_tol=1e-12)


def test_a_run_is_held_against_another_and_a_lake() -> None:
    slow = {"scope": "gpu", "scope_id": "GPU-7", "lost_gpu_ns": 1, "run_id": "a"}
    before = framed(
        {
            LostTime: ledger("a", SHARES[:5]),
            StragglerRanks: [slow | {"slowdown_ratio": 1.1}],
        }
    )
    for baseline in (
        Baseline("run a", before, ("a",)),
        Baseline("lake old", before, is_elsewhere=True),
    ):
        content = built(ledger("b", (0.6, 0.61, 0.6)), "b", baseline=baseline)
        said = plain(content.heading)
        assert said.startswith(f"Run b against {baseline.label}: worse: useful work")
        assert said.endswith("; gone: gpu GPU-7.")
        assert bool(content.charts) is not baseline.is_elsewhere


def test_a_chosen_day_parts_the_days() -> None:
    baseline = Baseline("2026-03-04", framed({}), since="2026-03-04")
    content = built(ledger("r", (0.8, 0.81, 0.8, 0.7, 0.69, 0.7)), "r",
                    baseline=baseline)  # fmt: skip
    said = plain(content.heading)
    assert said.startswith("2026-03-04 to 2026-03-06 against 2026-03-01 to 2026-03-03:")


def test_days_of_other_runs_are_not_compared() -> None:
    rows = ledger("a", SHARES[:5])
    later = [row | {"run_id": "b", "day": "2026-03-09"} for row in ledger("b", (0.5,))]
    content = built(rows + later, "a", "b")
    assert content.heading.startswith("There is nothing yet")


def test_a_change_outside_its_noise_is_not_called_within_it() -> None:
    step = {"scope": "rank", "clock": "host", "rank": 0}
    rows: list[Row] = [
        step
        | {"run_id": run, "step": number, "start_ns": number * 10**10}
        | {"duration_ns": 10**9 + 10**5 * (number // 10 % 3) + more}
        for run, more in (("a", 0), ("b", 10**6))
        for number in range(200)
    ]
    frames = framed({StepTimings: rows})
    scope = Scope(prices_of("b"), provenance_of("b"), Baseline("run a", frames, ("a",)))
    content = what_changed.build(frames, scope)
    (row,) = content.listings[0].rows
    # 1 ms of a second is far more than blocks differ by, and too little to matter
    assert plain(str(row[3])) == "+0.10 %"
    assert row[5] == "too little"
    assert content.heading.endswith("no change is large and sure enough to be told.")
    assert "changed by less than 1" in plain(content.paragraphs[0])
