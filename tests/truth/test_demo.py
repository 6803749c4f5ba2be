"""The page of the demonstration: three runs, and a finding in every section."""

import html
import re
from typing import TYPE_CHECKING

import pytest

pytestmark = pytest.mark.thorough

if TYPE_CHECKING:
    from tests.truth.conftest import Demo

#: Sections that only some of the runs fill, and a word of what they found.
FILLED = {
    "replays": "a last stage with too much work",
    "pipeline_bubbles": "stages out of balance add most",
    "hangs": "Run hang16-demo hung at 2026-03-02 09:12 UTC",
    "stragglers": "Rank 5 on node-01 ran",
    "interruptions": "2 interruptions: 1 by hardware and 1 unattributed",
}

#: Most that the page may weigh. [B]
MOST_BYTES = 2_500_000


@pytest.fixture(scope="module")
def sections(demo: "Demo") -> dict[str, str]:
    """HTML of each section by its name, thin spaces as blanks."""
    page = html.unescape((demo.lake / "report.html").read_text(encoding="utf-8"))
    page = page.replace("\u202f", " ")
    parts = re.split(r'<section[^>]* id="([a-z_]+)"', page)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_everything_is_read(demo: "Demo") -> None:
    assert demo.code == 0
    files = demo.sql("SELECT sum(rows_rejected)::BIGINT AS n FROM ingested_files")
    assert files["n"].to_list() == [0]
    runs = demo.sql("SELECT run_id FROM runs WHERE has_card ORDER BY run_id")
    assert runs["run_id"].to_list() == sorted(
        truth["run_id"] for truth in demo.truths.values()
    )


@pytest.mark.parametrize("name", FILLED)
def test_a_section_is_filled(sections: dict[str, str], name: str) -> None:
    assert FILLED[name] in sections[name]
    assert "<figure" in sections[name]


def test_no_section_is_without_data(demo: "Demo") -> None:
    # the list of contents marks sections without data
    page = (demo.lake / "report.html").read_text(encoding="utf-8")
    assert '<a href="#hangs">' in page
    assert 'class="without"' not in page


def test_candidates_of_the_hang_are_those_to_blame(demo: "Demo") -> None:
    truth = demo.truths["hang16"]
    rows = demo.sql(
        "SELECT run_id, rank FROM hang_suspects WHERE is_candidate ORDER BY rank"
    )
    assert rows["rank"].to_list() == truth["blamed_ranks"]
    assert set(rows["run_id"]) == {truth["run_id"]}
    (hang,) = demo.sql("SELECT ranks_seen, ranks_expected FROM hangs").rows()
    assert hang == (truth["dumps"], truth["ranks"])


def test_accounts_of_each_run_add_up(demo: "Demo") -> None:
    rows = demo.sql("SELECT run_id, sum(gpu_ns)::HUGEINT FROM lost_time GROUP BY 1")
    found = {run_id: int(ns) for run_id, ns in rows.iter_rows()}
    pod16, pipe8 = demo.truths["pod16"], demo.truths["pipe8"]
    steps = pipe8["step_ns"]
    # a millisecond lies between two steps of the pipeline
    piped = pipe8["ranks"] * (sum(steps) + 10**6 * (len(steps) - 1))
    # of the hang nothing tells how long GPUs were held
    assert found == {pod16["run_id"]: pod16["gpu_ns"]["paid"], pipe8["run_id"]: piped}
    held = demo.sql("SELECT sum(to_ns - from_ns)::HUGEINT AS ns FROM allocations")
    assert int(held["ns"][0]) == sum(found.values())


def test_the_page_opens_with_both_runs_that_paid(
    demo: "Demo", sections: dict[str, str]
) -> None:
    (paid,) = demo.sql("SELECT sum(gpu_ns)::HUGEINT FROM lost_time").row(0)
    usd = f"{int(paid) / 3.6e12 * 2:.3f}"
    assert f"{usd} USD over 2 runs." in sections["cost"]
    assert "Run hang16-demo is in no account" in sections["cost"]
    assert sections["cost"].count("(run card)") == 3


def test_nothing_is_doubtful_about_the_runs(
    demo: "Demo", sections: dict[str, str]
) -> None:
    assert "several runs in one folder" not in sections["unknown"]
    assert "without a trace" not in sections["unknown"]
    assert (demo.lake / "report.html").stat().st_size < MOST_BYTES


def test_findings_name_their_run(sections: dict[str, str]) -> None:
    assert "Steps of pipe8-demo take" in sections["replays"]
    assert "bubble of pipe8-demo is" in sections["pipeline_bubbles"]
    assert "Rank 5 of pod16-demo comes last" in sections["collective_waits"]
    assert "16 ranks of pod16-demo" in sections["overlap"]
