"""The section on the plan: its finding, what is left open, numbers in words."""

from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from analysis._plan_lines import RULES
from analysis.flow_collisions import FlowCollisions
from analysis.plans import Plans
from reports._plan_tables import TABLES
from reports._plan_titles import title
from reports._plan_words import beside, difference, in_words, priced
from reports._section import Content, Scope
from reports.dollars import Price
from reports.plan import SECTION
from tests.reports.builder import RUN, framed
from tests.reports.pod_plan import plan


def built(scope: Scope, rows: list[dict[str, Any]], **more: Any) -> Content:
    return SECTION.build(framed({Plans: rows, **more.get("tables", {})}), scope)


def plain(text: str) -> str:
    return text.replace("\u202f", " ").replace("\N{MINUS SIGN}", "-")


def test_the_finding_is_the_step_and_what_it_costs(scope: Scope) -> None:
    content = SECTION.build(framed(plan(RUN)), scope)
    # 12,000 - 9,600 GPU-s at 2.5 USD an hour
    assert plain(content.heading) == (
        "A step takes 1.25 s where 1.00 s was planned (+25.0 %), 1.67 USD more over"
        " all planned steps."
    )
    measured, told, why, flows = content.paragraphs
    assert "Data parallel: time: times as traced contain waiting" in why
    assert plain(measured) == (
        "7 lines were measured, too: 2 of them within 3.0 % of the plan."
    )
    assert told.startswith("13 of 14 lines have a value")
    assert "with 1 flow for each pair 2.60 times the mean load" in plain(flows)
    assert "up to 5.00 USD" in plain(flows)
    assert "up to 2.50 USD" in plain(flows)
    ratios, paths, sizes = content.charts
    assert ratios.numbers["name"].to_list() == [
        *("step_time", "layout_gpus", "data_bytes", "data_time", "gpu_power")
    ]
    assert paths.numbers["p99_ratio"].to_list() == [4.0, 1.75]
    # 1e-4 + 1e9 / 4e11 s of a ring, 1e-5 + 1e9 / 2e11 s of a tree: they cross before
    at = sizes.numbers.filter(pl.col("bytes") == 1e9)
    assert at["time_s"].to_list() == pytest.approx([2.6e-3, 5.01e-3])
    open_fields, assumed = content.notes
    assert open_fields.facts == [
        ("hardware.watts_per_gpu_all_in", "1 line: Power of the facility")
    ]
    assert assumed.facts == [("state 16", "Adam; in 13 lines")]


def test_a_step_as_planned_is_said_to_be_that(scope: Scope) -> None:
    rows = plan(RUN)[Plans]
    near = [
        row | {"measured": 1.02, "difference_ratio": 0.02}
        if row["name"] == "step_time"
        else row
        for row in rows
    ]
    heading = plain(built(scope, near).heading)
    assert heading == "Steps take as long as planned: 1.02 s for 1.00 s."


def test_a_run_that_was_not_measured_has_its_price_on_paper(scope: Scope) -> None:
    unknown = {"measured": None, "measured_from": None, "difference_ratio": None}
    rows = [row | unknown for row in plan(RUN)[Plans]]
    content = built(scope, rows)
    assert plain(content.heading) == (
        "On paper the run costs 6.67 USD; no step of it was measured."
    )
    assert [chart.name for chart in content.charts] == ["plan-sizes"]


def test_what_telemetry_told_was_not_planned(scope: Scope) -> None:
    alone = {"measured": None, "difference_ratio": None}
    lake = alone | {"inputs": "step_s 1.25 (lake step_timings)"}
    after = alone | {"inputs": "step 8 (this plan); gpus 8 (card hardware)"}
    changed = {"step_time": lake, "step": lake, "run": after}
    rows = [row | changed.get(str(row["name"]), {}) for row in plan(RUN)[Plans]]
    content = built(scope, rows)
    assert plain(content.heading) == (
        "Data parallel: time: 200 ms where 80.0 ms was planned (2.5 times)."
    )
    costs = next(one for one in content.listings if one.title.startswith("What time"))
    assert [column.title for column in costs.columns] == [
        *("Line", "As measured", "Costs", "Worked out as")
    ]
    assert {row[0] for row in costs.rows} == {"A step", "All planned steps"}


def test_several_runs_show_the_one_that_is_known_best(scope: Scope) -> None:
    other = [row | {"run_id": "other", "measured": None} for row in plan(RUN)[Plans]]
    both = Scope(scope.prices, scope.provenance)
    rows = [*plan(RUN)[Plans], *other]
    content = SECTION.build(
        framed({Plans: rows, FlowCollisions: []}),
        Scope(both.prices, _of_all(both)),
    )
    assert content.paragraphs[-1] == (
        f"Shown is run {RUN}, of which most was measured; other has lines in table"
        " plans, too."
    )


def _of_all(scope: Scope) -> Any:
    from dataclasses import replace

    return replace(scope.provenance, run_ids=(RUN, "other"))


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (None, "s", "\N{EN DASH}"),
        (0.2, "s", "200 ms"),
        (3600.0 * 16384, "GPU s", "16 384 GPU-h"),
        (90.0, "GPU s", "90 GPU-s"),
        (18.84e9, "B", "18.8 GB"),
        (11_468_800.0, "W", "11.5 MW"),
        (3.79e25, "FLOP", "3.79e25 FLOP"),
        (0.4839, "1", "0.484"),
        (777_600.0, "1", "777 600"),
        (1e300, "s", "1.00e300 s"),
        (5e-324, "B", "4.94e-324 B"),
    ],
)
def test_numbers_in_words(value: float | None, unit: str, words: str) -> None:
    assert plain(in_words(value, unit)) == words


@pytest.mark.parametrize(
    ("value", "unit", "line", "words"),
    [
        (7_900.0, "W", "gpu_power", "7.90 kW"),  # beside 11.2 kW
        (6.48e12, "B", "checkpoint_size", "6.48 TB"),
        (999_700.0, "J", "run_energy", "1.00 MJ"),
        (0.445, "1", "mfu", "44.5 %"),
        (0.0964, "1", "interval_waste", "9.6 %"),
        (4.51e-6, "1", "expected_interruptions", "< 0.0001"),
        (4.56e-5, "years", "one_gpu_years", "24.0 min"),
        (431.0, "years", "one_gpu_years", "431 years"),
    ],
)
def test_units_are_alike_in_a_row(
    value: float, unit: str, line: str, words: str
) -> None:
    assert plain(in_words(value, unit, line)) == words


def test_a_difference_below_the_digits_is_none() -> None:
    row = {"name": "step_time", "unit": "s", "value": 2.4, "measured": 2.4026}
    told = beside(row | {"difference_ratio": 0.0011})
    assert [plain(one) for one in told] == ["2.40 s", "2.40 s", "as planned"]


def test_differences_in_words() -> None:
    assert plain(difference(None)) == "\N{EN DASH}"
    assert plain(difference(0.0)) == "as planned"
    assert plain(difference(-0.295)) == "-29.5 %"
    assert plain(difference(2.5)) == "3.5 times"


def test_rent_has_energy_in_it_and_owners_pay_for_it() -> None:
    rows = pl.DataFrame(
        {
            "run_id": ["rented", "owned"],
            "unit": ["J", "J"],
            "value": [3.6e6, 3.6e6],
            "measured": [None, 7.2e6],
        }
    )
    owned = Price(Decimal(1), "run card", "owned", Decimal("0.1"), Decimal("1.5"))
    prices = {"": Price(Decimal(2), "default"), "owned": owned}
    told = priced(rows, prices)
    assert told["usd"].to_list() == [None, pytest.approx(0.15)]
    assert told["measured_usd"].to_list() == [None, pytest.approx(0.3)]


def test_tables_show_lines_that_there_are() -> None:
    sections = {rule.name: rule.section for rule in RULES}
    for table in TABLES:
        assert len(table.lines) <= 10
        assert {sections[name] for name in table.lines} <= set(table.sections)
    shown = [section for table in TABLES for section in table.sections]
    assert sorted(shown) == sorted(set(sections.values()))


def test_every_line_has_a_name_of_its_own() -> None:
    titles = [title(rule.name) for rule in RULES]
    assert len(set(titles)) == len(titles)
    assert not [one for one in titles if "_" in one]
