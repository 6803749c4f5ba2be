"""What is not known is said to be so: never as none, and a part of it as "at least"."""

from decimal import Decimal
from typing import Any

import pytest

from analysis.interruptions import Interruptions
from analysis.lemon_nodes import LemonNodes
from analysis.loss_phases import LossPhases
from analysis.lost_time import LostTime
from reports import _repairs, claim, cost, first_steps, interruptions, lemon_nodes
from reports._repair import Repair
from reports._section import Content, Listing, Scope
from tests.reports import claimed
from tests.reports.builder import HOUR, RUN, Row, framed
from tests.reports.pod import pod

#: What nobody can know of a run whose steps nobody saw.
BLANK = ("hang", "detect", "start", "recompute")


def phases(*blank: str) -> dict[Any, list[Row]]:
    """The pod, where it is not known what some phases cost."""
    nothing = {"gpu_ns": None, "duration_ns": None}
    rows = pod()[LossPhases]
    return {
        LossPhases: [
            row | nothing if row["phase"] in blank else dict(row) for row in rows
        ]
    }


def built(section: Any, scope: Scope, changed: dict[Any, list[Row]]) -> Content:
    content: Content = section.SECTION.build(framed(pod() | changed), scope)
    return content


def plain(text: object) -> str:
    return str(text).replace("\u202f", " ")


def titled(content: Content, start: str) -> Listing:
    return next(one for one in content.listings if one.title.startswith(start))


def test_a_stop_of_which_nothing_is_known_does_not_cost_nothing(scope: Scope) -> None:
    # decide and requeue are known to have cost nothing: nobody pays for a queue
    content = built(interruptions, scope, phases(*BLANK))
    assert content.heading.endswith(" What they cost is not known.")
    listing = titled(content, "Phases of unplanned")
    costs = {row[0]: row[5:] for row in listing.rows}
    assert costs["hang"] == costs["start"] == ("not known", "not known")
    assert costs["requeue"] == ("0", "0")
    assert listing.total is not None
    assert listing.total[5:] == ("not known", "not known")
    (row,) = titled(content, "Interruptions, the latest").rows
    assert row[7] == "not known"


def test_a_stop_that_is_known_in_part_cost_at_least_that(scope: Scope) -> None:
    # 8 GPUs for 540 + 300 + 600 s at 2.5 USD: 8 USD
    content = built(interruptions, scope, phases("hang"))
    assert "Lost: at least 8.0" in plain(content.heading)
    listing = titled(content, "Phases of unplanned")
    assert listing.rows[0][5:] == ("not known", "not known")
    assert listing.total is not None
    assert plain(listing.total[6]).startswith("at least 8.0")
    (row,) = titled(content, "Interruptions, the latest").rows
    assert plain(row[7]).startswith("at least 8.0")
    chart = next(one for one in content.charts if one.name == "interruptions-cost")
    assert "of 1 not all that they cost is known" in chart.sample
    hang = chart.numbers.filter(phase="hang").row(0, named=True)
    assert (hang["costed"], hang["gpu_hours"], hang["usd"]) == (0, None, None)


def test_jobs_of_unknown_size_lost_more_than_is_known(scope: Scope) -> None:
    row = pod()[LossPhases][0] | {"phase": "second_order", "account": None}
    row |= {"jobs_preempted": 2, "gpu_ns": Decimal(4 * HOUR), "jobs_unsized": 1}
    told = []
    for changed in ({}, {"gpu_ns": None, "jobs_unsized": 2}):
        rows = {LossPhases: [*pod()[LossPhases], row | changed]}
        told.append(plain(" ".join(built(interruptions, scope, rows).paragraphs)))
    assert "restart and lost at least 4.00 h of GPU time" in told[0]
    assert "what they lost is not known: nothing tells their size" in told[1]


@pytest.mark.parametrize(
    ("lost", "unknown", "told"),
    [
        (None, 3, "1 in 4.0 million by chance; what that cost is not known."),
        (Decimal(500 * HOUR), 1, "1 in 4.0 million by chance: at least 1 250 USD."),
    ],
)
def test_a_lemon_cost_no_more_than_is_known(
    scope: Scope, lost: Decimal | None, unknown: int, told: str
) -> None:
    cost_ = {"lost_gpu_ns": lost, "unknown_interruptions": unknown, "run_id": RUN}
    lemon = next(row for row in pod()[LemonNodes] if row["is_lemon"])
    rows = {LemonNodes: [lemon | cost_]}
    assert plain(built(lemon_nodes, scope, rows).heading).endswith(told)
    (repairs,) = built(first_steps, scope, rows).listings
    replaced = [plain(row[1]) for row in repairs.rows if "replace" in str(row[0])]
    assert [said.startswith("at least") for said in replaced] == [True] * (unknown < 3)


def prevented(scope: Scope, changed: dict[Any, list[Row]]) -> Repair:
    """What preventing the pod's stops would save."""
    found = _repairs.candidates(framed(pod() | changed), scope)
    return next(one for one in found if one.what.startswith("claim"))


def test_preventing_stops_saves_at_least_what_is_known(scope: Scope) -> None:
    whole = prevented(scope, phases())
    assert (whole.is_bound, plain(whole.saves.said)) == (True, "8.33 USD")
    part = prevented(scope, phases("hang"))
    assert not part.is_bound
    assert part.saves.said.startswith("at least")


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (0.2, 0.5, "differ by 35.0 % of the mean (95 %: 20.0 % to 50.0 %)."),
        (0.2, None, "differ by 35.0 % of the mean (95 %: 20.0 % or more)."),
        (0.0, 0.5, "nothing shows that their rates differ, and they may by up to 50.0"),
        (0.0, None, "by how much their rates differ is not told by so few."),
    ],
)
def test_a_spread_of_rates_has_an_interval(
    scope: Scope, low: float, high: float | None, told: str
) -> None:
    spread = {"fleet_variation_low_ratio": low, "fleet_variation_high_ratio": high}
    rows = {LemonNodes: [row | spread for row in pod()[LemonNodes]]}
    said = plain(" ".join(built(lemon_nodes, scope, rows).paragraphs))
    assert told in said


def test_causes_add_up_to_all_stops(scope: Scope) -> None:
    (stop,) = pod()[Interruptions]
    counts = {"hardware": 3, "software": 2, "network": 2, "user": 2, "facilities": 1}
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    rows = [
        stop | {"category": kind, "component": f"{kind}_part", "stop": number}
        for number, kind in enumerate(kinds)
    ]
    heading = built(interruptions, scope, {Interruptions: rows}).heading
    assert heading.startswith(
        "10 interruptions: 3 by hardware, 2 by network, 2 by software and 3 by 2 more"
        " causes."
    )
    what = prevented(scope, {Interruptions: rows}).what
    assert what.startswith("claim the 6 interruptions that point at the provider")
    assert what.endswith(
        "3 by hardware part, 2 by network part and 1 by facilities part)"
    )


def test_spares_are_not_called_unknown(scope: Scope) -> None:
    spare = pod()[LostTime][0] | {"category": "unallocated"}
    rows = [row for row in pod()[LostTime] if row["category"] != "unattributed"]
    spares = {LostTime: [*rows, spare | {"gpu_ns": Decimal(10 * HOUR)}]}
    content = built(cost, scope, spares)
    assert "100 % of that has a cause we can name" in plain(content.heading)
    tiles = {tile.label: tile for tile in content.figures}
    assert "not known" not in tiles
    assert "spares, repairs" in tiles["idle"].definition


@pytest.mark.parametrize(
    ("blank", "costs", "stood"),
    [
        (("hang", "detect", "start", "recompute"), "an amount that is not known", ""),
        (("hang",), "at least 1.7333 GPU-hours, 4.33 USD", "at least 39.5 min: 2.63"),
    ],
)
def test_a_claim_is_for_at_least_what_is_known(
    scope: Scope, blank: tuple[str, ...], costs: str, stood: str
) -> None:
    rows = claimed.tables()
    nothing = {"gpu_ns": None, "duration_ns": None}
    rows[LossPhases] = [
        row | nothing if row["phase"] in blank else row for row in rows[LossPhases]
    ]
    page = claim.build(framed(rows), "abcd1234", {}, scope, claimed.DAYS)
    assert page.headline.endswith(f"stopped run pod-a-main and cost {costs}.")
    assert stood in plain(page.html)
