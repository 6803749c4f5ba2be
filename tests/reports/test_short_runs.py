"""What a day would save is told of days, and is an extrapolation below one."""

from typing import Any

from analysis.attempts import Attempts
from analysis.lost_time import LostTime
from analysis.runs import Runs
from reports import first_steps
from reports._section import Scope
from tests.reports.builder import HOUR, RUN, START, framed, prices_of, provenance_of
from tests.reports.pod import pod


def plain(text: object) -> str:
    """A text with ordinary spaces."""
    return str(text).replace("\u202f", " ")


def lasting(hours: int, run: str = RUN) -> dict[Any, Any]:
    """The pod, its run that long."""
    rows: dict[Any, Any] = pod(run)
    return rows | {Runs: [row | {"end_ns": START + hours * HOUR} for row in rows[Runs]]}


def test_a_day_is_told_of_two_days(scope: Scope) -> None:
    content = first_steps.build(framed(lasting(48)), scope)
    # 45 USD in two days
    assert plain(content.heading).endswith("at most 45 USD, 22.5 USD a day.")
    assert content.listings[0].columns[2].title == "A day"
    assert plain(content.listings[0].rows[0][2]) == "≤ 22.5 USD"


def test_runs_that_were_seen_unequally_long_say_so_one_by_one() -> None:
    rows, other = lasting(12), lasting(6, "second")
    for table in (Runs, LostTime, Attempts):
        rows[table] = rows[table] + other[table]
    scope = Scope(prices_of(RUN, "second"), provenance_of(RUN, "second"))
    (listing,) = first_steps.build(framed(rows), scope).listings
    assert listing.columns[2].title == "A day"
    told = {plain(row[2]) for row in listing.rows}
    # 45 USD in 12 hours and in 6
    assert "≤ 90.0 USD if it went on so; seen for 12.0 h" in told
    assert "≤ 180 USD if it went on so; seen for 6.00 h" in told


def test_what_rounds_to_nothing_is_not_said_to_be_nothing(scope: Scope) -> None:
    rows = lasting(12)
    rows[LostTime] = [
        rows[LostTime][0] | {"category": category, "gpu_ns": gpu_ns}
        for category, gpu_ns in (("productive", 10**12), ("data_stall", 1))
    ]
    (listing,) = first_steps.build(framed(rows), scope).listings
    saves = {row[0]: plain(row[1]) for row in listing.rows}
    assert saves["feed input faster"] == "< 0.000001 USD"
