"""The section on slow GPUs: spells over steps, evidence, scores and sources."""

from decimal import Decimal
from typing import Any

import pytest

from analysis.section_scores import SectionScores
from analysis.stragglers import (
    StragglerEvidence,
    StragglerRanks,
    StragglerSteps,
    StragglerTests,
)
from reports import stragglers
from reports._section import Chart, Content, Listing, Scope
from tests.reports.builder import RUN, Row, Rows, S, framed

STEPS = 900


def spell(rank: int, first: int, last: int, lost: int) -> Row:
    return {
        "run_id": RUN,
        "scope": "gpu",
        "scope_id": f"GPU-{rank}",
        "attempt": 0,
        "rank": rank,
        "host": "node-a11",
        "slowdown_ratio": 1.3,
        "q_value": 1e-9,
        "first_step": first,
        "last_step": last,
        "steps_late": last - first + 1,
        "lost_gpu_ns": Decimal(lost * S),
        "cause": "power_cap",
        "evidence": "slowed for power",
    }


def evidence(rung: int, cause: str, supports: bool | None) -> Row:
    return {
        "run_id": RUN,
        "scope": "gpu",
        "scope_id": "GPU-3",
        "attempt": 0,
        "first_step": 100,
        "rung": rung,
        "cause": cause,
        "supports": supports,
        "evidence": f"evidence of {cause}",
        "table_name": "power_samples",
        "rows_count": 60,
    }


def score(rank: int, relative: float | None) -> Row:
    return {
        "run_id": RUN,
        "section": "step",
        "rank": rank,
        "relative_score": relative,
        "individual_score": None,
        "reports_count": 1,
        "is_flagged": relative is not None and relative < 0.75,
    }


def rows(**test: Any) -> Rows:
    told = {
        "run_id": RUN,
        "ranks_tested": 16,
        "ranks_untested": 0,
        "steps_tested": STEPS,
        "smallest_visible_ratio": 1.02,
        "shortest_spell_count": 30,
        "source": "step_timings",
        "cannot_tell": "It takes for waiting what the step log calls so.",
        "verdict": "tested",
    }
    steps = [
        {
            "run_id": RUN,
            "attempt": 0,
            "step": step,
            "slowest_rank": 3,
            "slowest_work_ns": S * (80 if step == 0 else 2),
            "typical_work_ns": S,
            "ranks_seen": 16,
            "lost_gpu_ns": Decimal(4 * S),
            "jitter_gpu_ns": Decimal(0),
        }
        for step in range(STEPS)
    ]
    return {
        StragglerRanks: [spell(5, 600, 700, 20), spell(3, 100, 159, 90)],
        StragglerEvidence: [
            evidence(0, "thermal_slowdown", False),
            evidence(1, "power_cap", True),
            evidence(9, "garbage_collection", None),
            evidence(15, "victim", False),
        ],
        StragglerTests: [told | test],
        StragglerSteps: steps,
        SectionScores: [score(rank, 0.99) for rank in range(8)] + [score(8, 0.5)],
    }


def built(scope: Scope, some: Rows) -> Content:
    return stragglers.build(framed(some), scope)


def strip(content: Content) -> Chart:
    return next(one for one in content.charts if one.name == "stragglers-steps")


def listing(content: Content, start: str) -> Listing:
    return next(one for one in content.listings if one.title.startswith(start))


def test_the_strip_is_of_medians_of_few_steps_and_counts_spells(scope: Scope) -> None:
    chart = strip(built(scope, rows()))
    # 900 steps as 300 points of three; the first takes the median of 80, 2 and 2
    assert chart.numbers.height == 300
    assert chart.numbers.row(0) == (0, S, 2 * S, 0)
    inside = chart.numbers.filter(chart.numbers["slow_count"] == 1)["from_step"]
    assert (inside.min(), inside.max()) == (99, 699)
    # steps 99 to 159, and 600 to 700, by three
    assert inside.len() == 21 + 34
    assert "a point is the median of 3 steps" in chart.sample
    assert "steps 100 to 159" in chart.summary


def test_steps_too_long_to_draw_are_said_to_be(scope: Scope) -> None:
    some = dict(rows())
    some[StragglerSteps] = some[StragglerSteps][:200]
    chart = strip(built(scope, some))
    assert chart.numbers["slowest_ns"].max() == 80 * S
    assert "1 step above 2.20\N{NARROW NO-BREAK SPACE}s drawn" in chart.sample


def test_a_healthy_run_has_its_strip_without_spells(scope: Scope) -> None:
    some = dict(rows()) | {StragglerRanks: []}
    content = built(scope, some)
    assert "nobody was slow" in strip(content).summary
    assert "slow spell" not in strip(content).legend
    assert content.heading.startswith("No GPU was slower")


def test_evidence_for_comes_before_evidence_against(scope: Scope) -> None:
    told = listing(built(scope, rows()), "What speaks")
    assert [(row[1], row[2]) for row in told.rows] == [
        ("power cap", "for"),
        ("thermal slowdown", "against"),
        ("victim", "does not clear it"),
    ]
    assert told.rows[0][0] == "Rank 3 on node-a11, from step 100"
    assert told.rows[0][4] == "power_samples, 60 rows"
    assert told.more == "1 rung without data"


def test_scores_are_the_lowest_and_few(scope: Scope) -> None:
    told = listing(built(scope, rows()), "Lowest scores")
    # below 0.75 is a third slower
    assert "(1 of 9 flagged; NVRx flags from 33.3" in told.title
    assert [row[0] for row in told.rows][:2] == ["rank 8", "rank 0"]
    assert told.rows[0][2:] == ("0.500", "not measured", "yes")
    assert len(told.rows) == 5


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("step_timings", "Own work is from a step log that tells waits. It"),
        ("traces", "Own work is from traces of kernels and collectives. It"),
        ("operations", "Own work is from traces of operations"),
        ("collectives", "Own work is from collectives alone"),
    ],
)
def test_the_source_is_told_and_what_it_cannot_tell(
    scope: Scope, source: str, said: str
) -> None:
    content = built(scope, rows(source=source))
    (paragraph,) = [text for text in content.paragraphs if text.startswith(said)]
    assert paragraph.endswith("what the step log calls so.")
    assert any("fewer than 30 steps" in text for text in content.paragraphs)


def test_the_joint_gain_is_told_beside_single_ones(scope: Scope) -> None:
    # 900 steps of 4 GPU-seconds are an hour; the two spells alone 90 and 20 seconds
    text = " ".join(built(scope, rows()).paragraphs)
    assert "All repaired together save 1.00 GPU-hour" in text
