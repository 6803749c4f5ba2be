"""The sections of rates and of lemon nodes, in words."""

from typing import Any

import pytest

from analysis.interrupt_rates import InterruptRates
from analysis.lemon_nodes import LemonNodes
from analysis.rate_comparisons import RateComparisons
from analysis.spare_plans import SparePlans
from reports import interrupt_rates, lemon_nodes
from reports._rate_shown import chance
from reports._section import Content, Scope
from tests.reports.builder import RUN, Row, framed
from tests.reports.pod import pod
from tests.reports.pod_rates import OTHER


def page(section: Any, scope: Scope, **changed: Any) -> Content:
    rows = pod(count=changed.pop("count", 6)) | changed.pop("rows", {})
    content: Content = section.SECTION.build(framed(rows), scope)
    return content


def plain(text: str) -> str:
    return text.replace("\u202f", " ")


def test_the_finding_has_the_rate_and_its_peers(scope: Scope) -> None:
    # 6 in 1,000 node-days
    assert plain(page(interrupt_rates, scope).heading) == (
        "One interruption in 167 d (95 %: 100 d to 333 d) of pod-a-main: 6.00 per 1000"
        " node-days, more than Llama 3, H100 (3.79) and not told apart from Meta RSC-1,"
        " A100 (6.50)."
    )


def test_failures_of_nodes_in_no_use_are_a_count(scope: Scope) -> None:
    row = {"level": "incident", "category": "all", "component": "all"}
    rows: list[Row] = [
        row | {"cluster": cluster, "scope": of, "scope_id": what, "count": count}
        for cluster, of, what, count in (
            ("a", "cluster", "a", 9),
            ("a", "host", "n1", 4),
            ("a", "host", "n2", 5),
            ("b", "cluster", "b", 1),
            ("b", "host", "n1", 1),
        )
    ]
    content = page(interrupt_rates, scope, rows={InterruptRates: rows})
    assert content.heading.startswith("10 incidents on 3 nodes that failed: a count")
    assert [row[:3] for row in content.listings[0].rows] == [
        ("a", "9", "2"),
        ("b", "1", "1"),
    ]
    assert "What would give a rate" in content.paragraphs[0]


def test_a_rate_is_held_against_what_counts_the_same(scope: Scope) -> None:
    every, some = pod()[RateComparisons]
    rows = [
        every | {"category": "hardware+network", "per_1000_node_days": 4.5},
        some | {"category": "all", "per_1000_node_days": 6.0},
    ]
    assert plain(
        page(interrupt_rates, scope, rows={RateComparisons: rows}).heading
    ).endswith(
        "6.00 per 1000 node-days, more than Llama 3, H100 (3.79); 4.50 by hardware and"
        " network, not told apart from Meta RSC-1, A100 (6.50)."
    )


def test_what_changed_and_how_stops_come_is_said(scope: Scope) -> None:
    said = " ".join(map(plain, page(interrupt_rates, scope).paragraphs))
    assert (
        "Changed: week 2026-W47, interruptions 2.4 times the rate of the rest" in said
    )
    assert "Stops come in clusters, not at random (p = 0.0040; Weibull shape" in said


def test_charts_are_peers_and_gaps(scope: Scope) -> None:
    names = [chart.name for chart in page(interrupt_rates, scope).charts]
    assert names == ["rates-peers", "rates-gaps"]


def test_below_five_there_is_a_count_and_what_is_compatible(scope: Scope) -> None:
    content = page(interrupt_rates, scope, count=4)
    assert plain(content.heading).startswith(
        "4 unplanned interruptions in 1 000 d that pod-a-main was up: too few for a"
        " rate;"
    )
    assert "rates-peers" not in [chart.name for chart in content.charts]


def test_no_stop_is_a_bound_and_not_a_rate(scope: Scope) -> None:
    none = [
        row | {"count": 0, "mtbf_ns": None, "mtbf_high_ns": None}
        for row in pod()[InterruptRates]
    ]
    content = page(interrupt_rates, scope, rows={InterruptRates: none})
    assert plain(content.heading).startswith(
        "No unplanned interruption in 1 000 d that"
    )
    assert plain(content.heading).endswith("is at least 100 d (95 %).")


def test_table_5_has_our_own_percentages_and_a_footnote(scope: Scope) -> None:
    (notes,) = page(interrupt_rates, scope).notes
    facts = {term: plain(fact) for term, fact in notes.facts}
    assert facts["Faulty GPU"] == "148, 35.3 % (printed: 30.1 %)"
    assert facts["GPU HBM3 Memory"] == "72, 17.2 %"
    assert "30.1 % for 148 of 419, which is 35.3 %" in facts["Footnote"]


def test_sizes_that_meta_published_stand_beside(scope: Scope) -> None:
    listing = page(interrupt_rates, scope).listings[-1]
    rows = {str(row[0]): plain(str(row[3])) for row in listing.rows}
    assert rows["1\u202f024"] == "7.90 h, measured"
    assert rows["8"] == "\N{EN DASH}"


def test_the_lemon_is_named_with_its_chance_and_cost(scope: Scope) -> None:
    content = page(lemon_nodes, scope)
    # 500 GPU-hours at 2.5 USD
    assert plain(content.heading) == (
        "node-b12 failed 12 times where 0.51 are expected, 1 in 4.0 million by chance:"
        " 1 250 USD."
    )
    row = content.listings[0].rows[0]
    assert (row[0], row[4]) == ("node-b12", "yes")
    assert "GPU-0007-aaaa-bbbb (12)" in str(row[7])
    assert str(row[8]).startswith("provider")


def test_spares_that_pay_have_a_range_and_a_price(scope: Scope) -> None:
    said = " ".join(map(plain, page(lemon_nodes, scope).paragraphs))
    # 12 + 24 hours of 8 GPUs at 2.5 USD
    assert "1 spare node pays (1 to 2 at the ends of the rate's interval)" in said
    assert "together cost 720 USD a day" in said
    assert "A node is away for 2.00 d on average, seen in the logs" in said


def of_spares(scope: Scope, **other: object) -> tuple[str, str]:
    """What is said of spares, and the title of their chart."""
    rows = {SparePlans: [row | other for row in pod()[SparePlans]]}
    content = page(lemon_nodes, scope, rows=rows)
    said = next(text for text in content.paragraphs if "spare" in text)
    (chart,) = content.charts
    return plain(said), plain(chart.title)


def test_an_assumed_repair_makes_no_spare_pay(scope: Scope) -> None:
    said, title = of_spares(scope, repair_basis="setting", withheld="nobody tells")
    assert said.startswith("How many spare nodes pay for 2 nodes of")
    assert "is not known: nobody tells. The chart holds only if repairs took" in said
    assert "USD" not in said
    assert "if repairs took 2.00 d" in title


def test_nodes_that_were_back_at_once_are_counted(scope: Scope) -> None:
    seen = {"failed_nodes": 32, "returned_nodes": 31}
    said, title = of_spares(scope, repair_basis="attempts", **seen)
    assert "31 of 32 failed nodes were in the run's very next attempt" in said
    assert title.startswith("Cost of spare nodes in a day [")


def test_a_fleet_in_which_nobody_failed_twice_has_no_lemon(scope: Scope) -> None:
    rows: dict[Any, list[Row]] = {LemonNodes: [OTHER]}
    heading = page(lemon_nodes, scope, rows=rows).heading
    assert heading.startswith("No node failed twice")


def test_what_cannot_be_tested_is_said_with_its_reason(scope: Scope) -> None:
    few = OTHER | {"p_value": None, "note": "fewer than 5 failures of the whole fleet"}
    rows: dict[Any, list[Row]] = {LemonNodes: [few]}
    heading = page(lemon_nodes, scope, rows=rows).heading
    assert heading.endswith("fewer than 5 failures of the whole fleet.")


@pytest.mark.parametrize(
    ("p_value", "said"),
    [
        (0.42, "42.0 %"),
        (0.011, "1.1 %"),
        (0.0004, "1 in 2 500"),
        (0.0, "less than 1 in a billion"),
    ],
)
def test_chances_are_said_as_people_say_them(p_value: float, said: str) -> None:
    assert plain(chance(p_value)) == said


def test_runs_are_those_of_the_page(scope: Scope) -> None:
    assert RUN in page(interrupt_rates, scope).heading


def test_models_of_gpu_are_told_apart(scope: Scope) -> None:
    whole = next(
        row
        for row in pod()[InterruptRates]
        if row["scope"] == "cluster" and row["level"] == "incident"
    )
    models = [
        whole | {"scope": "gpu_model", "scope_id": "H100", "count": 6},
        whole | {"scope": "gpu_model", "scope_id": "A100", "count": 1},
    ]
    rows = {InterruptRates: [*pod()[InterruptRates], *models]}
    said = map(plain, page(interrupt_rates, scope, rows=rows).paragraphs)
    assert (
        "By model of GPU, incidents per 1000 node-days: A100 1 event and H100 6.00"
        " (3.00 to 10.2)."
    ) in said
