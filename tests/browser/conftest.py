"""A Chromium without a network, and the sample's report to open in it."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dataframely as dy
import polars as pl
import pytest

import reports
from analysis import Frames
from ingest.lake import snapshot
from pipeline.cli import run_tokens
from reports import page as report_page
from reports.dollars import Price
from reports.provenance import Provenance

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

#: What Chromium needs in a container, and nothing that calls home.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

#: Goes in front of every name that another system gave.
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&\u202e"

#: Names that our own code gives, although their column could hold any.
OURS = {"day", "category", "component", "kind", "source", "zone"}


@dataclass
class Opened:
    """A page that is open, and what went wrong in it."""

    page: "Page"
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


Open = Callable[..., Opened]


@pytest.fixture(scope="session")
def chromium() -> Iterator["Browser"]:
    """The system's Chromium; skips without one, unless REQUIRE_CHROMIUM is set."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        reason = "no Chromium on the path: apt-get install chromium"
        if os.environ.get("REQUIRE_CHROMIUM"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: "Browser") -> Iterator[Open]:
    """Opens a file offline, at some width, and waits until it is drawn."""
    contexts = []

    def opened(path: Path, width: int = 1280, **options: Any) -> Opened:
        context = chromium.new_context(
            offline=True, viewport={"width": width, "height": 900}, **options
        )
        contexts.append(context)
        one = Opened(context.new_page())
        one.page.on("request", lambda request: one.requests.append(request.url))
        one.page.on("pageerror", lambda error: one.errors.append(str(error)))
        one.page.on("dialog", lambda dialog: one.errors.append(dialog.message))
        one.page.on(
            "console",
            lambda said: (
                one.errors.append(said.text)
                if said.type in {"error", "warning"}
                else None
            ),
        )
        one.page.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            one.page.wait_for_selector("html.is-drawn")
        return one

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def sample_lake(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of the sample run, with its report."""
    lake = tmp_path_factory.mktemp("sample") / "lake"
    run_tokens(["run", str(project / "sample_traces"), "--lake", str(lake), "--quiet"])
    return lake


@pytest.fixture(scope="session")
def hostile_report(sample_lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same report, with every name that came from a file turned into an attack."""
    lake = snapshot(sample_lake)
    frames = Frames(
        {table: renamed(table, lake.scan(table)) for table in reports.INPUTS}
    )
    prices = {"": Price(Decimal(2), "default", "rental")}
    provenance = Provenance((), HOSTILE, 0, "1", {HOSTILE: HOSTILE}, {}, {}, {})
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    html = report_page.render(frames, prices, provenance)
    path.write_text(html, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def small_report(sample_lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same report at a price near nothing: the longest numbers there are."""
    lake = snapshot(sample_lake)
    frames = Frames({table: lake.scan(table) for table in reports.INPUTS})
    prices = {"": Price(Decimal("0.00005"), "default", "rental")}
    provenance = Provenance((), "lake", 0, "1", {}, {}, {}, {})
    path = tmp_path_factory.mktemp("small") / "report.html"
    html = report_page.render(frames, prices, provenance)
    path.write_text(html, encoding="utf-8")
    return path


def renamed(table: type[reports.Table], rows: pl.LazyFrame) -> pl.LazyFrame:
    """Rows of a table with the attack in front of every free name in them."""
    free = [
        name
        for name, column in table.columns().items()
        if isinstance(column, dy.String) and column.check is None and name not in OURS
    ]
    return rows.with_columns(
        (pl.lit(HOSTILE) + pl.col(name)).alias(name) for name in free
    )
