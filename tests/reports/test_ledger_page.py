"""The sentence, the waterfall and the table: 200 GPU-hours at 2.5 USD."""

from decimal import Decimal
from typing import Any

import polars as pl

from analysis.checkpoint_plans import CheckpointPlans
from analysis.data_feed import DataFeedViolations
from analysis.interruptions import Interruptions
from analysis.lemon_nodes import LemonNodes
from analysis.loss_phases import LossPhases
from analysis.lost_time import LostTime
from analysis.runs import Runs
from reports import cost, first_steps, lost_time
from reports._ledger import ACCOUNTS
from reports._section import Content, Scope
from reports.dollars import Price
from tests.reports.builder import HOUR, framed
from tests.reports.pod import pod

# paid 200 GPU-h = 500 USD
#   productive             140   350
#   exposed communication   18    45
#   straggler wait          12    30
#   restart                 10    25
#   recompute                8    20
#   unattributed             6    15
#   data stall               4    10
#   idle                     2     5


def plain(text: str) -> str:
    """A text with ordinary spaces."""
    return text.replace("\u202f", " ")


def test_the_sentence_holds_the_numbers(scope: Scope) -> None:
    content = cost.build(framed(pod()), scope)
    assert plain(content.heading) == (
        "200.0 GPU-hours, 500 USD. 70.0 % did useful work."
        " 150 USD went elsewhere; 90.0 % of that has a cause we can name."
    )


def test_stops_without_a_cause_have_none_in_the_sentence(scope: Scope) -> None:
    rows = pod()
    (stop,) = rows[Interruptions]
    rows[Interruptions] = [stop | {"category": "unattributed"}]
    phase = {name: stop[name] for name in ("run_id", "attempt", "stop")}
    lost = rows[LossPhases][0] | phase
    rows[LossPhases] = [lost | {"phase": "start", "gpu_ns": Decimal(9 * HOUR)}]
    # 60 GPU-h went elsewhere, 6 of them unattributed and 9 for such a stop
    heading = plain(cost.build(framed(rows), scope).heading)
    assert "75.0 % of that has a cause we can name" in heading
    # no more than what all stops cost can be without one
    rows[LossPhases] = [lost | {"phase": "start", "gpu_ns": Decimal(99 * HOUR)}]
    heading = plain(cost.build(framed(rows), scope).heading)
    assert "60.0 % of that has a cause we can name" in heading


def test_useful_work_known_from_durations_is_at_most(scope: Scope) -> None:
    rows = pod()
    rows[LostTime] = [
        row | {"basis": "step_duration_upper_bound"}
        for row in rows[LostTime]
        if row["category"] == "productive"
    ]
    heading = plain(cost.build(framed(rows), scope).heading)
    assert "At most 100 % did useful work. Nothing is known" in heading


def test_nothing_named_is_said(scope: Scope) -> None:
    rows = pod()
    rows[LostTime] = [r for r in rows[LostTime] if r["category"] == "unattributed"]
    heading = plain(cost.build(framed(rows), scope).heading)
    assert heading == (
        "6.000 GPU-hours, 15.00 USD. 0 % did useful work."
        " 15.00 USD went elsewhere; no cause can be named for any of it yet."
    )


def drawn(content: Content, name: str) -> list[dict[str, Any]]:
    """The rows of a chart's only drawing."""
    spec = next(chart.spec for chart in content.charts if chart.name == name)
    (rows,) = spec["datasets"].values()
    return list(rows)


def test_the_waterfall_adds_up(scope: Scope) -> None:
    content = lost_time.build(framed(pod()), scope)
    paid, *lost, useful = drawn(content, "lost-time-waterfall")
    assert (paid["label"], paid["start"], paid["end"]) == ("paid", 0, 200)
    level = paid["end"]
    for bar in lost:
        assert bar["end"] == level
        level = bar["start"]
    assert (useful["label"], useful["start"], useful["end"]) == (
        "productive",
        0,
        level,
    )
    assert "unattributed" in [bar["label"] for bar in lost]
    assert plain(paid["text"]) == "200.0 GPU-h · 500 USD"


def number(text: object) -> Decimal:
    """A number as the page writes it."""
    return Decimal(plain(str(text)).replace(" ", "").rstrip("%"))


def test_the_table_adds_up_as_it_stands(scope: Scope) -> None:
    rows = pod()
    # thirds of hours, which no rounding of each alone would add up
    odd = [row | {"gpu_ns": row["gpu_ns"] / 7 + 1} for row in rows[LostTime]]
    rows[LostTime] = [r | {"gpu_ns": r["gpu_ns"].quantize(Decimal(1))} for r in odd]
    (listing,) = lost_time.build(framed(rows), scope).listings
    for column in (2, 4):
        shown = [number(row[column]) for row in listing.rows]
        assert sum(shown) == number(listing.total[column])


def test_at_most_ten_rows_that_still_add_up(scope: Scope) -> None:
    rows = pod()
    first = rows[LostTime][0]
    rows[LostTime] = [
        first | {"category": category, "gpu_ns": Decimal((place + 1) * 10**12)}
        for place, category in enumerate(ACCOUNTS)
    ]
    (listing,) = lost_time.build(framed(rows), scope).listings
    assert len(ACCOUNTS) == 11
    assert len(listing.rows) == 10
    assert sum(number(row[2]) for row in listing.rows) == number(listing.total[2])


def test_each_run_has_its_price(scope: Scope) -> None:
    rows, other = pod(), pod("second")
    rows[LostTime] += other[LostTime]
    rows[Runs] += other[Runs]
    prices = {**scope.prices, "second": Price(Decimal(5), "run card", "rental")}
    both = Scope(prices, _without_runs(scope))
    content = cost.build(framed(rows), both)
    # 200 GPU-h at 2.5 and 200 at 5 USD
    assert "400.0 GPU-hours, 1 500 USD over 2 runs." in plain(content.heading)
    compared = lost_time.build(framed(rows), both)
    side = next(one for one in compared.listings if one.title == "Runs side by side")
    assert [plain(str(row[4])) for row in side.rows] == ["150", "300"]
    assert "lost-time-runs" in [chart.name for chart in compared.charts]


def _without_runs(scope: Scope) -> Any:
    return scope.provenance.__class__(**{**vars(scope.provenance), "run_ids": ()})


def test_only_the_runs_of_the_page_are_counted(scope: Scope) -> None:
    rows = pod()
    rows[LostTime] += pod("second")[LostTime]
    assert cost.build(framed(rows), scope).heading.startswith("200.0 GPU-hours")


def test_what_to_do_first_is_sorted_and_says_that_gains_do_not_add(
    scope: Scope,
) -> None:
    others = (LemonNodes, LossPhases, CheckpointPlans, DataFeedViolations)
    rows = {table: found for table, found in pod().items() if table not in others}
    content = first_steps.build(framed(rows), scope)
    (listing,) = content.listings
    saves = [plain(str(row[1])) for row in listing.rows]
    # restart and recompute 45, communication 45, the slow GPU 5 h x 2.5 = 12.5
    assert saves == ["≤ 45 USD", "≤ 45 USD", "12.5 USD", "≤ 10 USD", "≤ 5 USD"]
    # twelve hours on the page: a day costs twice that
    assert plain(str(listing.rows[2][2])) == "25.0 USD"
    title = plain(listing.columns[2].title)
    assert title == "A day, if it went on so (seen for 12.0 h)"
    assert " a day" not in content.heading
    assert plain(content.heading).endswith("45 USD in the 12.0 h seen.")
    # 120 steps done, 1080 of 1200 left: nine times that
    assert plain(str(listing.rows[2][3])) == "112 USD"
    assert content.paragraphs[0].startswith("Gains do not add")


def test_small_totals_are_said_in_gpu_seconds(scope: Scope) -> None:
    rows = pod()
    first = rows[LostTime][0]
    rows[LostTime] = [first | {"gpu_ns": Decimal(90 * 10**9)}]
    heading = plain(cost.build(framed(rows), scope).heading)
    assert heading.startswith("90.00 GPU-seconds, 0.06250 USD.")


def test_the_fleet_does_not_overflow(scope: Scope) -> None:
    # 16,384 GPUs for 54 days are 7.6e19 ns, eight times what Int64 holds
    rows = pod()
    gpu_ns = Decimal(16_384 * 54 * 86_400 * 10**9)
    rows[LostTime] = [rows[LostTime][0] | {"gpu_ns": gpu_ns}]
    heading = plain(cost.build(framed(rows), scope).heading)
    assert heading.startswith("21.23 M GPU-hours, 53.08 M USD.")
    chart = lost_time.build(framed(rows), scope).charts[0]
    assert chart.numbers["gpu_time"].to_list() == [21_233_664.0]
    assert isinstance(chart.numbers, pl.DataFrame)
