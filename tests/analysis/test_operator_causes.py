"""What an operator wrote down of an interruption stands before what logs suggest."""

from typing import Any

import pytest

from tests.analysis.stops import Row, failure, find, stopped


def said(at: int, host: str | None = None, **other: Any) -> Row:
    told: Row = {
        "source": "operator",
        "gpu_key": None,
        "component": "network",
        "name": "optic replaced",
    }
    return failure("network_switch_cable", at, host, **told | other)


@pytest.mark.parametrize("host", ["a", "b", None])
def test_the_cause_is_the_one_that_was_written_down(host: str | None) -> None:
    # run     | end 1000
    # node a  79 at 950, the worst that logs know, and before what the list says
    (stop,) = find(stopped(), [failure("79", 950), said(990, host)])
    assert stop["cause"] == "operator network_switch_cable: optic replaced"
    assert (stop["category"], stop["component"]) == ("network", "network")
    assert stop["planned"] is False


def test_what_logs_suggest_is_kept_beside_it() -> None:
    (stop,) = find(stopped(), [failure("79", 950, "b"), said(990, "a")])
    assert stop["other_incident_ids"] is not None


def test_planned_work_makes_the_stop_a_planned_one() -> None:
    # teardown of a planned stop leaves failures, which are not its cause
    work = said(990, severity="info", name="firmware")
    (stop,) = find(stopped(state="FAILED"), [failure("79", 995), work])
    assert stop["planned"] is True
    assert stop["cause"] == "operator network_switch_cable: firmware"


def test_a_notice_on_a_node_does_not_hide_its_failure() -> None:
    # the list speaks of work on node a long before; the failure counts as one
    work = said(100, "a", severity="info")
    (stop,) = find(stopped(), [work, failure("79", 950)])
    assert stop["cause"] == "xid 79: meaning"
    assert stop["planned"] is False


def test_a_line_that_is_far_from_the_stop_is_of_another() -> None:
    (stop,) = find(stopped(), [said(1_400)])
    assert stop["incident_id"] is None


#: What published lists call their causes (Llama 3, arXiv 2407.21783, table 5, and Los
#: Alamos, LA-UR-05-7318), as components, and whose they are.
PUBLISHED = {
    "gpu": "hardware",
    "gpu_memory": "hardware",
    "host": "hardware",
    "power": "hardware",
    "hardware": "hardware",
    "network": "network",
    "nic": "network",
    "software": "software",
    "maintenance": "maintenance",
    "facilities": "facilities",
    "human": "human",
    "undetermined": "unattributed",
    None: "unattributed",
}


@pytest.mark.parametrize(("component", "category"), PUBLISHED.items())
def test_causes_of_published_lists_have_their_category(
    component: str | None, category: str
) -> None:
    (stop,) = find(stopped(), [said(990, component=component)])
    assert (stop["category"], stop["component"]) == (category, component)
