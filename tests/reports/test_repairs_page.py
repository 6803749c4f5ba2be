"""What to do first: repairs from what-if answers, their chart, their joint gain."""

from decimal import Decimal
from typing import Any

import pytest

from analysis.lemon_nodes import LemonNodes
from analysis.stragglers import StragglerRanks
from analysis.whatif import WhatIf
from reports import first_steps
from reports._section import Content, Scope
from tests.reports.builder import HOUR, RUN, SLOW_RANK, framed
from tests.reports.pod import pod
from tests.reports.pod_repairs import answer


@pytest.fixture
def rows() -> dict[Any, list[Any]]:
    """Every table of the pod, its lemon node left out: it would save most."""
    return {table: found for table, found in pod().items() if table is not LemonNodes}


def built(rows: dict[Any, list[Any]], scope: Scope) -> Content:
    return first_steps.build(framed(rows), scope)


def plain(text: object) -> str:
    return str(text).replace("\u202f", " ")


def bars(content: Content) -> list[dict[str, Any]]:
    (chart,) = content.charts
    (rows,) = chart.spec["datasets"].values()
    return list(rows)


def test_the_chart_ranks_savings_and_marks_bounds(
    rows: dict[Any, list[Any]], scope: Scope
) -> None:
    drawn = bars(built(rows, scope))
    # at 2.5 USD a GPU-hour
    assert [(bar["label"], bar["value"], bar["is_bound"]) for bar in drawn] == [
        ("everything typical", 25.0, True),
        ("communication hidden", 22.5, True),
        (f"rank {SLOW_RANK}", 12.5, False),
    ]
    assert plain(drawn[0]["text"]) == "25.0 USD (10.4 %)"
    assert plain(drawn[1]["text"]) == "\u2264 22.5 USD (9.4 %)"
    assert plain(drawn[2]["text"]) == "12.5 USD (5.2 %)"
    assert (drawn[2]["low"], drawn[2]["high"]) == (11.25, 13.75)


def test_what_is_noise_or_unreliable_is_not_drawn(
    rows: dict[Any, list[Any]], scope: Scope
) -> None:
    rows[WhatIf] = [row | {"is_reliable": False} for row in rows[WhatIf]]
    assert built(rows, scope).charts == []


def test_without_answers_the_section_stands_on_what_was_found_slow(
    rows: dict[Any, list[Any]], scope: Scope
) -> None:
    without = {table: found for table, found in rows.items() if table is not WhatIf}
    with_them, bare = built(rows, scope), built(without, scope)
    assert bare.charts == []
    assert with_them.listings[0].rows == bare.listings[0].rows


def test_spells_of_one_rank_are_one_repair(
    rows: dict[Any, list[Any]], scope: Scope
) -> None:
    (slow,) = rows[StragglerRanks]
    again = slow | {"first_step": 100, "lost_gpu_ns": Decimal(HOUR)}
    rows[StragglerRanks] = [slow, again]
    del rows[WhatIf]
    (listing,) = built(rows, scope).listings
    named = [row for row in listing.rows if f"rank {SLOW_RANK}" in str(row[0])]
    # 5 and 1 GPU-hours
    assert [plain(row[1]) for row in named] == ["15.0 USD"]


def test_a_saving_of_more_than_was_paid_is_not_shown(
    rows: dict[Any, list[Any]], scope: Scope
) -> None:
    much = answer(RUN, f"rank={SLOW_RANK}", "rank", 10**9)
    stage = answer(RUN, "stage=last", "stage", 10**9)
    rows[WhatIf] = [much, stage]
    shown = str(built(rows, scope).listings[0].rows)
    assert f"rank {SLOW_RANK}" not in shown
    assert "even out the stage" not in shown
    rows[WhatIf] = [much | {"saved_gpu_ns": None, "is_reliable": False}]
    assert f"rank {SLOW_RANK}" not in str(built(rows, scope).listings[0].rows)


def test_everything_typical_is_pale_and_no_repair(
    rows: dict[Any, list[Any]], scope: Scope
) -> None:
    alike = answer(RUN, "everything", "everything", 10)
    rows[WhatIf] = [alike, *rows[WhatIf][1:]]
    content = built(rows, scope)
    assert [bar["is_bound"] for bar in bars(content)] == [True, True, False]
    assert "everything" not in str(content.listings[0].rows)


def test_a_stage_that_only_a_replay_tells_of_is_listed(
    rows: dict[Any, list[Any]], scope: Scope
) -> None:
    stage = answer(RUN, "stage=last", "stage", 40) | {
        "method": "replay",
        "ranks": "6-7",
    }
    rows[WhatIf] = [*rows[WhatIf][:-1], stage]
    content = built(rows, scope)
    assert content.heading.startswith("First: even out the stage of ranks 6-7.")
    assert content.listings[0].rows[0][5].section == "replays"  # type: ignore[union-attr]


def test_the_slowest_workers_do_not_stand_beside_a_slow_rank(
    rows: dict[Any, list[Any]], scope: Scope
) -> None:
    workers = answer(RUN, "workers=slowest", "workers", 40) | {"ranks": "7"}
    rows[WhatIf] = [*rows[WhatIf], workers]
    assert "slowest workers" not in str(built(rows, scope).listings[0].rows)
    del rows[StragglerRanks]
    assert "slowest workers, rank 7" in str(built(rows, scope).listings[0].rows)


def test_the_joint_gain_stands_beside_the_sum(
    rows: dict[Any, list[Any]], scope: Scope
) -> None:
    joint = answer(RUN, "all repairs", "joint", 6) | {"is_joint": True}
    stage = answer(RUN, "stage=last", "stage", 3)
    rows[WhatIf] = [*rows[WhatIf][:-1], stage, joint]
    (told,) = (t for t in built(rows, scope).paragraphs if "together, in the" in t)
    assert plain(told) == (
        "The 2 repairs beyond noise save 15.0 USD together, in the steps seen; one by"
        " one they would seem to save 20.0 USD."
    )


def test_of_two_roads_that_with_more_steps_counts(
    rows: dict[Any, list[Any]], scope: Scope
) -> None:
    replayed = answer(RUN, f"rank={SLOW_RANK}", "rank", 1)
    rows[WhatIf] = [*rows[WhatIf], replayed | {"method": "replay", "steps": 3}]
    values = [bar["value"] for bar in bars(built(rows, scope))]
    assert values == [25.0, 22.5, 12.5]
