"""The report as people meet it: offline, on a desk, on a phone, on paper."""

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

#: Widths of a desk and of a phone. [px]
WIDTHS = (1280, 390)

#: Texts in charts that reach over the edge of their drawing.
CUT_TEXTS = """
() => [...document.querySelectorAll('.live > svg')].flatMap(svg => {
  const edge = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(text => {
    const box = text.getBoundingClientRect();
    return text.textContent.trim() && box.width > 0
      && (box.left < edge.left - 1.5 || box.right > edge.right + 1.5);
  }).map(text => `${svg.parentElement.id}: ${text.textContent}`);
})
"""


#: Numbers that reach over the edge of their tile.
WIDE_TILES = """
() => [...document.querySelectorAll('.figures b')].filter(
  number => number.scrollWidth > number.parentElement.clientWidth
).map(number => number.textContent);
"""


@pytest.mark.parametrize("width", WIDTHS)
def test_it_opens_without_a_network_and_draws_every_chart(
    sample_lake: Path, open_page: Any, width: int, tmp_path: Path
) -> None:
    report = sample_lake / "report.html"
    opened = open_page(report, width)
    page = opened.page
    assert opened.errors == []
    assert [url for url in opened.requests if not url.startswith("data:")] == [
        report.as_uri()
    ]
    charts = page.locator("figure").count()
    assert charts > 0
    assert page.locator(".live > svg").count() == charts
    assert page.locator("figure .still:visible").count() == 0
    page.screenshot(path=tmp_path / f"report-{width}.png", full_page=True)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_reaches_over_the_edge(
    sample_lake: Path, open_page: Any, width: int
) -> None:
    page = open_page(sample_lake / "report.html", width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CUT_TEXTS) == []
    assert page.evaluate(WIDE_TILES) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_long_number_has_room(small_report: Path, open_page: Any, width: int) -> None:
    page = open_page(small_report, width).page
    assert page.evaluate(WIDE_TILES) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_sentence_stands_at_the_top(sample_lake: Path, open_page: Any) -> None:
    page = open_page(sample_lake / "report.html").page
    heading = page.locator("h1")
    assert re.match(
        r"\S+(\sk)? GPU-(hours|seconds), \S+(\sk)?\sUSD( over [0-9]+ runs)?\."
        r" (At most )?(<\s)?\S+\s% did useful work\.",
        heading.inner_text(),
    )
    assert heading.bounding_box()["y"] < 300


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_names_are_text_everywhere(
    hostile_report: Path, open_page: Any, width: int
) -> None:
    opened = open_page(hostile_report, width)
    page = opened.page
    assert opened.errors == []
    assert page.locator("img:not(.still)").count() == 0
    assert page.locator("[onerror]").count() == 0
    assert page.locator("script").count() == 3
    text = page.locator("main").inner_text()
    assert "<img src=x onerror=alert(1)>" in text
    assert "\u202e" not in text
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_tooltips_show_hostile_names_as_text(
    hostile_report: Path, open_page: Any
) -> None:
    opened = open_page(hostile_report)
    page = opened.page
    said = []
    for chart in page.locator(".live > svg").all():
        chart.scroll_into_view_if_needed()
        areas = chart.locator(".mark-rect path, .mark-symbol path")
        lines = chart.locator(".mark-rule.role-mark line")
        (areas if areas.count() else lines).first.hover(force=True)
        said.append(page.locator(".tip").text_content())
        assert page.locator(".tip img").count() == 0
    assert any("<img src=x onerror=alert(1)>" in text for text in said)
    assert opened.errors == []


def test_it_prints_the_pictures(sample_lake: Path, open_page: Any) -> None:
    page = open_page(sample_lake / "report.html").page
    page.emulate_media(media="print")
    assert page.locator(".still:visible").count() == page.locator("figure").count()
    assert page.locator(".live:visible").count() == 0
    assert page.locator("nav:visible").count() == 0


def test_without_scripts_the_pictures_stand_in(
    sample_lake: Path, open_page: Any
) -> None:
    page = open_page(sample_lake / "report.html", java_script_enabled=False).page
    figures = page.locator("figure").count()
    assert page.locator(".still:visible").count() == figures
    loaded = page.locator(".still").evaluate_all(
        "images => images.filter(image => image.complete && image.naturalWidth).length"
    )
    assert loaded == figures


def test_the_keyboard_reaches_the_report_first(
    sample_lake: Path, open_page: Any
) -> None:
    page = open_page(sample_lake / "report.html").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash === '#cost'")


def test_sql_unfolds_under_its_chart(sample_lake: Path, open_page: Any) -> None:
    page = open_page(sample_lake / "report.html").page
    fold = page.locator("#lost_time figure details").first
    assert not fold.locator("code").is_visible()
    fold.locator("summary").click()
    assert fold.locator("code").inner_text().startswith("SELECT")
