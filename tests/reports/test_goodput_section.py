"""The section on goodput: what it says of runs that are known well, partly, not."""

from typing import TYPE_CHECKING, Any

import pytest

from analysis.goodput import Goodput
from reports import goodput
from reports._goodput_measures import MEASURES
from reports._goodput_peers import PEERS
from reports._section import Content, Scope
from tests.reports.builder import RUN, Row, framed
from tests.reports.conftest import MakeScope
from tests.reports.pod_goodput import goodput as pod

if TYPE_CHECKING:
    from ingest.tables import Table


def told(scope: Scope, *changes: dict[str, Any]) -> Content:
    """The section of as many runs like the pod's as there are changes."""
    rows: dict[type[Table], list[Row]] = {**pod(RUN)}
    (row,) = rows[Goodput]
    rows[Goodput] = [row | change for change in changes]
    return goodput.build(framed(rows), scope)


def test_heading_tells_of_clock_time_and_of_money(scope: Scope) -> None:
    content = told(scope, {})
    # 22 of 25 h; 88 of 100 GPU-hours
    assert content.heading.count("88.0") == 2
    assert "120 steps counted and 5 had to be done again" in content.paragraphs[0]
    assert "3.0" in content.paragraphs[1]
    assert "peak_tflops under [hardware] of the run card" in content.paragraphs[2]


def test_each_number_has_its_definition_and_source(scope: Scope) -> None:
    content = told(scope, {})
    (listing,) = content.listings
    assert [row[0] for row in listing.rows] == [
        *(one.label for one in MEASURES),
        "MFU",
        "MFU of paid",
    ]
    assert all(row[2] and row[3] for row in listing.rows)
    published = {row[0]: str(row[4]) for row in listing.rows}
    assert "Llama 3 405B" in published["effective training"]
    assert "Gemini" not in published["ETTR"]
    assert published["goodput"] == ""


def test_published_shares_stand_below_what_they_are_of(scope: Scope) -> None:
    chart = told(scope, {}).charts[0]
    names = [
        row["who"] if row["measure"] == "published" else row["measure"]
        for row in chart.numbers.to_dicts()
    ]
    assert names[:4] == ["effective training", "Llama 3 405B", "ETTR", PEERS[-1].label]
    google = names.index("Google goodput")
    assert names[google + 1 : google + 3] == ["Gemini 1.x", "Gemini 2.5"]


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("no steps", "jobs alone do not tell work from waiting"),
        ("traces are samples", "say nothing of the time between"),
        ("mostly unattributed", "no evidence tells of most of its time"),
    ],
)
def test_what_cannot_be_known_is_not_none(
    reason: str, words: str, scope: Scope
) -> None:
    unknown: dict[str, Any] = dict.fromkeys(one.column for one in MEASURES)
    content = told(scope, unknown | {"unknown_reason": reason, "mfu_reason": reason})
    assert words in content.heading
    assert not [chart for chart in content.charts if chart.name == "goodput-shares"]
    (listing,) = content.listings
    assert listing.rows[0][1:5] == ("unknown",) * 4
    assert listing.rows[0][-1] == reason


def test_mfu_and_ettr_are_never_multiplied(scope: Scope) -> None:
    known = {"mfu_ratio": 0.4, "paid_mfu_ratio": 0.35, "mfu_reason": None}
    texts = " ".join(told(scope, known).paragraphs)
    assert "MFU is 40.0" in texts
    assert "35.0" in texts
    # 0.4 x 0.88
    assert "35.2" not in texts


def test_an_upper_bound_says_so(scope: Scope) -> None:
    texts = " ".join(told(scope, {"is_upper_bound": True}).paragraphs)
    assert "goodput is an upper bound" in texts


def test_the_run_that_was_paid_most_for_leads(make_scope: MakeScope) -> None:
    content = told(
        make_scope(RUN, "small"), {"run_id": "small", "paid_gpu_ns": 10**9}, {}
    )
    assert RUN in content.heading
    assert [row[0] for row in content.listings[1].rows] == [RUN, "small"]
