"""The page as a text: what is in it, and what data cannot do to it."""

import json
import re
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import pytest

from analysis import Frames
from reports import SECTIONS
from reports import page as report_page
from reports._assets import data
from reports._glossary import GLOSSARY, explained
from reports._section import Scope
from tests.reports.builder import framed
from tests.reports.pod import pod

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&\u202e\x1b{{7*7}}"


class Elements(HTMLParser):
    """Elements, attributes and scripts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.count: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self._script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._script = tag in {"script", "style"}

    def handle_data(self, data: str) -> None:
        if not self._script:
            self.text.append(data)
        self._script = False


def parsed(html: str) -> Elements:
    """The elements of a page."""
    elements = Elements()
    elements.feed(html)
    return elements


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Pages by what they show, rendered once."""
    return {}


@pytest.fixture
def render(pages: dict[str, str], make_scope: Any) -> Any:
    """Renders the pod with a name for its run and its node."""

    def rendered(run: str = "pod-a-main", host: str = "node-b12") -> str:
        if run + host not in pages:
            scope: Scope = make_scope(run)
            frames: Frames = framed(pod(run, host))
            pages[run + host] = report_page.render(
                frames, scope.prices, scope.provenance
            )
        return pages[run + host]

    return rendered


def test_the_page_is_one_document_below_two_megabytes(render: Any) -> None:
    html: str = render()
    assert html.startswith("<!doctype html>")
    assert len(html.encode()) < 2_000_000


def test_sections_come_in_the_order_of_reading(render: Any) -> None:
    found = re.findall(r'<section id="(\w+)"', render())
    assert found == [section.name for section in SECTIONS]
    elements = parsed(render())
    assert elements.count["h1"] == 1
    assert elements.count["h2"] == len(SECTIONS) - 1


def test_nothing_is_fetched_from_elsewhere(render: Any) -> None:
    elements = parsed(render())
    for tag, name, value in elements.attributes:
        if name in {"src", "href", "srcset", "action", "data", "poster"}:
            assert value.startswith(("#", "data:image/svg+xml;charset=utf-8,")), (
                tag,
                value,
            )
    assert "@import" not in render()
    assert "url(" not in re.findall(r"<style>(.*?)</style>", render(), re.DOTALL)[0]


def test_the_policy_allows_only_our_own_scripts_by_hash(render: Any) -> None:
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', render())
    assert "default-src 'none'" in policy.replace("&#39;", "'")
    assert "unsafe" not in policy
    assert policy.count("sha256-") == 3


def test_every_chart_is_described_and_has_its_drawing(render: Any) -> None:
    html: str = render()
    names = re.findall(r'data-chart="([^"]+)"', html)
    (text,) = re.findall(r'id="drawings">(.*?)</script>', html, re.DOTALL)
    specs = json.loads(text)["specs"]
    assert sorted(names) == sorted(specs)
    assert len(set(names)) == len(names)
    images = [v for t, n, v in parsed(html).attributes if (t, n) == ("img", "alt")]
    assert len(images) == len(names)
    assert all(images)
    assert "url" not in {key for spec in specs.values() for key in spec.get("data", {})}


def test_ids_are_unique_and_links_lead_somewhere(render: Any) -> None:
    attributes = parsed(render()).attributes
    ids = [value for _, name, value in attributes if name == "id"]
    assert len(set(ids)) == len(ids)
    links = {value[1:] for _, name, value in attributes if name == "href"}
    assert links <= set(ids)


@pytest.mark.thorough
def test_hostile_names_add_no_element_and_no_attribute(render: Any) -> None:
    harmless, hostile = parsed(render()), parsed(render(HOSTILE, HOSTILE))
    assert hostile.count == harmless.count
    names = {(tag, name) for tag, name, _ in hostile.attributes}
    assert names == {(tag, name) for tag, name, _ in harmless.attributes}
    assert not [name for _, name in names if name.startswith("on")]


def test_hostile_names_are_shown_as_text(render: Any) -> None:
    text = " ".join(parsed(render(HOSTILE, HOSTILE)).text)
    assert "<img src=x onerror=alert(1)>" in text
    assert "{{7*7}}" in text
    assert "\u202e" not in render(HOSTILE, HOSTILE)
    assert "\x1b" not in render(HOSTILE, HOSTILE)
    assert "\\u202e" not in render(HOSTILE, HOSTILE)


def test_drawings_cannot_leave_their_script_element() -> None:
    text = data({"a": {"title": "</script><!--\u2028"}})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text)["specs"]["a"]["title"] == "</script><!--\u2028"


def test_words_are_explained_once_and_safely() -> None:
    marked = explained('restart "restart" <b onclick=x> &restart;')
    assert marked.count('class="term"') == 1
    assert "<b" not in marked
    assert str(marked).startswith('<a class="term" href="#word-restart" title="')


def test_every_word_is_explained_on_the_page(render: Any) -> None:
    for one in GLOSSARY:
        anchor = f'id="word-{one.term.lower().replace(" ", "-")}"'
        assert render().count(anchor) == 1


def test_an_empty_lake_makes_a_page_that_says_what_is_missing(scope: Scope) -> None:
    html = report_page.render(Frames({}), scope.prices, scope.provenance)
    assert parsed(html).count["section"] == len(SECTIONS)
    assert html.count('class="hint"') >= len(SECTIONS) - 2
    assert "figure" not in parsed(html).count


def test_importing_reports_draws_nothing_in() -> None:
    code = (
        "import sys, reports, reports.dollars, reports.provenance;"
        "print(sorted({'altair', 'vl_convert', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
