"""The section on the data feed: its finding, its cost, and what cannot be told."""

from typing import Any

from analysis.data_feed import DataFeed, DataFeedViolations
from analysis.data_feed_steps import DataFeedSteps
from reports._section import Content, Scope
from reports.data_feed import SECTION
from tests.reports.builder import framed
from tests.reports.pod_feed import fault, feed


def built(scope: Scope, faults: list[dict[str, Any]], **run: Any) -> Content:
    told = feed()
    told[DataFeedViolations] = faults
    told[DataFeed] = [told[DataFeed][0] | run]
    return SECTION.build(framed(told), scope)


def plain(text: str) -> str:
    return text.replace("\u202f", " ")


def test_a_fault_stands_in_the_heading_and_its_cost_below(scope: Scope) -> None:
    content = built(scope, [fault()])
    assert plain(content.heading) == (
        "The data feed went wrong once in 120 steps: the restart gave 32 samples again"
        " in step 60."
    )
    # 36 GPU-seconds at 2.50 USD a GPU-hour
    assert plain(content.paragraphs[0]) == (
        "GPU time on samples that had been learned from: 0.0250 USD."
    )
    (row,) = content.listings[0].rows
    assert [plain(str(cell)) for cell in row[1:6]] == [
        *["60 (1)", "restart repeats", "0-7", "32", "0.0250 USD"]
    ]
    assert [chart.name for chart in content.charts] == ["feed-faults", "feed-steps"]


def test_stalls_and_long_documents_are_told_in_time(scope: Scope) -> None:
    _, stalls, documents = map(plain, built(scope, [fault()]).paragraphs)
    # 9 and 18 GPU-seconds
    assert "1 step waited for input" in stalls
    assert "9.00 s of GPU time, 0.0062 USD" in stalls
    assert "18.0 s of GPU time, 0.0125 USD" in stalls
    assert "1.50 times the mean" in documents
    assert "7.0 % longer if attention" in documents


def test_several_faults_are_counted_by_kind(scope: Scope) -> None:
    gap = {"kind": "left_out", "gpu_ns": None, "cost_basis": "no GPU time is lost"}
    others = [fault() | gap | {"step": step} for step in (70, 71)]
    content = built(scope, [fault(), *others])
    assert plain(content.heading) == (
        "The data feed went wrong in 120 steps: 2 steps with samples left out and 1"
        " step that a restart repeats."
    )
    assert [row[5] for row in content.listings[0].rows][1:] == ["no GPU time"] * 2


def test_a_clean_feed_says_what_was_not_found(scope: Scope) -> None:
    content = built(scope, [], verdict="complete", violations_count=0)
    assert plain(content.heading) == (
        "Every sample was given once over 120 steps and 3 840 samples: none twice,"
        " none left out."
    )
    assert not content.listings


def test_what_cannot_be_told_is_said(scope: Scope) -> None:
    spots = "a row is missing; no epoch is told"
    told: dict[str, Any] = {"verdict": "cannot tell", "blind_spots": spots}
    content = built(scope, [], **told, violations_count=0)
    assert "not all of it can be told" in content.heading
    assert content.paragraphs[-1].endswith("a row is missing and no epoch is told.")


def test_without_reads_stalls_are_told_and_what_file_is_missing(scope: Scope) -> None:
    told = feed()
    unread = {"ranks": None, "verdict": "cannot tell", "violations_count": 0}
    run = told[DataFeed][0] | unread | {"imbalance_ratio": None}
    steps = [s | {"imbalance_time_ratio": None} for s in told[DataFeedSteps]]
    content = SECTION.build(framed({DataFeed: [run], DataFeedSteps: steps}), scope)
    assert content.heading == "What the loader gave to the ranks is not known."
    assert "1 step waited for input" in plain(content.paragraphs[0])
    assert "sample_from" in content.paragraphs[-1]
    assert list(content.charts[0].legend) == ["blocked on input"]
