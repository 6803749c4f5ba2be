"""What interruptions cost, as the page says it."""

from decimal import Decimal
from typing import Any

import pytest

from analysis.incidents import Incidents
from analysis.interruptions import Interruptions
from analysis.loss_phases import LossPhases
from ingest.tables import Table
from ingest.xids import UNKNOWN_NAME
from reports import interruptions
from reports._section import Content, Scope
from tests.reports.builder import HOUR, RUN, Row, S, framed
from tests.reports.pod import pod


def built(scope: Scope, changed: dict[type[Table], list[Row]] | None = None) -> Content:
    return interruptions.SECTION.build(framed(pod() | (changed or {})), scope)


def plain(text: object) -> str:
    return str(text).replace("\u202f", " ")


def chart(content: Content, name: str) -> Any:
    return next(one for one in content.charts if one.name == name)


def test_the_phases_add_up_to_what_the_heading_says(scope: Scope) -> None:
    # 8 GPUs for 60 + 540 + 300 + 600 s: 3.333 GPU-hours at 2.5 USD
    content = built(scope)
    assert "Lost: 8.333 USD, 40.0 % of it in the phase recompute." in plain(
        content.heading
    )
    numbers = chart(content, "interruptions-cost").numbers
    assert numbers["phase"].to_list() == [
        *("hang", "detect", "decide", "requeue", "start", "recompute"),
    ]
    assert numbers["usd"].sum() == pytest.approx(1_500 * 8 / 3_600 * 2.5)
    seconds = pytest.approx([60, 540, 60, 840, 300, 600])
    assert numbers["mean_s"].to_list() == seconds
    assert numbers["median_s"].to_list() == seconds


def test_mean_and_median_differ_where_one_stop_took_long(scope: Scope) -> None:
    rows = pod()[LossPhases]
    more = [
        row | {"attempt": n, "duration_ns": took * S}
        for n, took in ((1, 60), (2, 1_800))
        for row in rows
        if row["phase"] == "hang"
    ]
    numbers = chart(built(scope, {LossPhases: rows + more}), "interruptions-cost")
    hang = numbers.numbers.filter(phase="hang").row(0, named=True)
    assert (hang["mean_s"], hang["median_s"]) == pytest.approx((640, 60))
    assert hang["known"] == 3


def test_what_others_lost_is_told_and_not_added(scope: Scope) -> None:
    others = {
        "run_id": RUN,
        "attempt": 0,
        "stop": 0,
        "planned": False,
        "phase": "second_order",
        "gpu_ns": Decimal(4 * HOUR),
        "jobs_preempted": 2,
    }
    content = built(scope, {LossPhases: [*pod()[LossPhases], others]})
    assert content.heading == built(scope).heading
    told = plain(" ".join(content.paragraphs))
    assert "2 jobs of others had to make room" in told
    assert "10 USD" in told or "10.0 USD" in told


def test_codes_outside_the_catalogue_are_named(scope: Scope) -> None:
    told = {"catalogue": "NVIDIA 2025-10-29"}
    known = [row | told for row in pod()[Incidents]]
    unknown = known[0] | {"root_code": "999", "name": UNKNOWN_NAME}
    paragraphs = built(scope, {Incidents: [*known, unknown]}).paragraphs
    (said,) = [text for text in paragraphs if "catalogue" in text]
    assert "NVIDIA 2025-10-29" in said
    assert "does not hold 999" in said


def test_a_stop_has_the_colour_of_whose_it_is(scope: Scope) -> None:
    lanes = chart(built(scope), "interruptions-lanes")
    assert list(lanes.legend) == ["attempt", "hardware"]


def test_suspects_of_a_hang_stand_beside_a_stronger_cause(scope: Scope) -> None:
    stops = [row | {"suspect_ranks": "3,12"} for row in pod()[Interruptions]]
    listing = built(scope, {Interruptions: stops}).listings[-1]
    assert "suspected: 3,12" in str(listing.rows[0])
