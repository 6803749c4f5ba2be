"""The report on paper, and the page about an incident on a desk, a phone and paper."""

import re
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import run_tokens

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

#: Pages of a PDF, as its objects say.
PAGES = re.compile(rb"/Type\s*/Page[^s]")

#: What must not be cut by the end of a sheet.
WHOLE = """
() => [...document.querySelectorAll('figure, tr, h1, h2, figcaption, .hint')]
  .filter(one => one.offsetParent && getComputedStyle(one).breakInside !== 'avoid')
  .map(one => one.outerHTML.slice(0, 80))
"""


@pytest.fixture(scope="session")
def claim(sample_lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page about the Xid 79 of the sample."""
    from pipeline import querying

    rows = querying.rows_of(
        sample_lake, "SELECT incident_id FROM incidents WHERE root_code = '79' LIMIT 1"
    )
    path = tmp_path_factory.mktemp("claim") / "claim.html"
    tokens = ["report", "--claim", rows["incident_id"][0], "--lake", str(sample_lake)]
    assert run_tokens([*tokens, "-o", str(path), "--quiet"]) == 0
    return path


def test_nothing_is_cut_by_the_end_of_a_sheet(
    sample_lake: Path, open_page: Any
) -> None:
    page = open_page(sample_lake / "report.html").page
    page.emulate_media(media="print")
    assert page.evaluate(WHOLE) == []
    for size in ("A4", "Letter"):
        assert len(PAGES.findall(page.pdf(format=size))) > 5


@pytest.mark.parametrize("width", [1280, 390])
def test_a_claim_fits_a_desk_a_phone_and_paper(
    claim: Path, open_page: Any, width: int
) -> None:
    opened = open_page(claim, width, java_script_enabled=False)
    page = opened.page
    assert opened.errors == []
    assert [url for url in opened.requests if not url.startswith("data:")] == [
        claim.as_uri()
    ]
    assert page.locator("h1").inner_text().startswith("Xid 79")
    assert page.locator(".quoted pre").count() > 0
    box = page.locator("body").bounding_box()
    assert box["width"] <= width
    for size in ("A4", "Letter"):
        assert 1 <= len(PAGES.findall(page.pdf(format=size))) <= 6
