"""The run on paper: what each line is made of, and what is missing where none is."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis._plan_lines import RULES, draw_up
from analysis._plan_rules import Known
from ingest.run_card import FIELDS
from tests.analysis.plan_cards import LLAMA, LLAMA_LONG, planned, row, value
from tests.examples import examples


def test_no_line_has_the_name_of_another() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_an_empty_card_has_every_line_and_says_what_would_fill_it() -> None:
    lines = planned("")
    assert len(lines) == len(RULES)
    assert lines["hour"].note == "not told: hardware.gpus"
    # a line says what the lines that it needs wait for
    assert lines["run"].note == (
        "not told: hardware.gpus, training.planned_steps, training.step_s"
    )
    assert all(line.note for line in lines.values() if line.value is None)


def test_an_input_says_where_it_is_from() -> None:
    lines = planned("[hardware]\ngpus = 16\n[training]\nparameters = 1e9")
    assert lines["hour"].inputs == "gpus 16 (card hardware.gpus)"
    assert lines["state_bytes"].value == 16e9
    assert "16 (assumed: mixed-precision Adam" in lines["state_bytes"].inputs


def test_the_lake_is_asked_where_the_card_is_silent() -> None:
    lake = {"step_s": Known(2.0, "lake step_timings"), "gpus": Known(9, "lake runs")}
    lines = {one.name: one for one in draw_up(row("[hardware]\ngpus = 16"), lake)}
    assert lines["step"].value == 32.0
    assert "step_s 2 (lake step_timings)" in lines["step"].inputs
    assert "gpus 16 (card hardware.gpus)" in lines["step"].inputs


# Volumes as worked out for Llama 3: activations of 8192 x 16384 x 2 B = 268 MB.
def test_volumes_of_llama_3() -> None:
    plan = planned(LLAMA)
    passes = 8 * (126 / 16) * 16  # gathers and scatters of a stage's layers, 16 batches
    assert value(plan, "tensor_bytes") / passes == pytest.approx(268.4e6 * 7 / 8, 1e-3)
    assert value(plan, "pipeline_bytes") / (2 * 16) == pytest.approx(33.5e6, rel=2e-3)
    assert value(plan, "context_bytes") == value(plan, "expert_bytes") == 0.0
    assert value(plan, "tensor_time") == value(plan, "tensor_bytes") / 450e9
    assert value(plan, "data_time") == value(plan, "data_bytes") / 50e9


def test_volumes_of_long_sequences() -> None:
    plan = planned(LLAMA_LONG)
    gathers = 2 * (126 / 16) * 16
    # a rank has one head of 128 of 131,072 tokens: keys and values of 67 MB
    found = value(plan, "context_bytes") / gathers
    assert found == pytest.approx(67.1e6 * 15 / 16, rel=1e-3)


@pytest.mark.parametrize(
    ("order", "inside"),
    [("tp,cp,pp,dp", "tensor"), ("dp,cp,pp,tp", "data"), ("pp,tp,cp,dp", "")],
)
def test_a_group_inside_the_node_takes_its_link(order: str, inside: str) -> None:
    layout = "tp = 8\npp = 2\ndp = 8\norder = " + str(order.split(","))
    card = LLAMA.replace("gpus = 16384", "gpus = 128").replace(
        "tp = 8\npp = 16\ndp = 128", layout
    )
    plan = planned(card)
    links = {
        kind: value(plan, f"{kind}_bytes") / value(plan, f"{kind}_time") / 1e9
        for kind in ("tensor", "data")
    }
    expected = {kind: 450.0 if kind == inside else 50.0 for kind in links}
    assert links == pytest.approx(expected)


def test_experts_need_their_number_only_where_they_are_spread() -> None:
    spread = LLAMA.replace("dp = 128", "dp = 128\nep = 8")
    assert planned(LLAMA)["expert_bytes"].value == 0.0
    missing = planned(spread)["expert_bytes"]
    assert missing.value is None
    assert missing.note == "not told: training.experts_per_token"
    told = planned(
        spread.replace("[checkpoints]", "experts_per_token = 2\n[checkpoints]")
    )
    # there and back, forward and backward: 2 experts of each of 16,384 tokens of a rank
    each = 16_777_216 / (128 * 8) * 2 * 16_384 * 2
    assert value(told, "expert_bytes") == 4 * 126 / 16 * each * 7 / 8


def test_two_algorithms_take_the_same_time_where_they_cross() -> None:
    plan = planned(LLAMA)
    size = value(plan, "ring_hierarchical_crossing")
    at = planned(LLAMA.replace("step_s = 6", f"step_s = 6\nbucket_bytes = {size!r}"))
    ring, nested = (value(at, f"{name}_time") for name in ("ring", "hierarchical"))
    assert ring == pytest.approx(nested)
    nowhere = plan["ring_tree_crossing"]
    assert nowhere.value is None
    assert nowhere.note == "nowhere: tree is faster at every size"


def test_the_interval_in_use_against_the_best() -> None:
    card = LLAMA + "interval_s = 3600\n[reliability]\ninterruptions = 419\n"
    plan = planned(card + "observed_days = 54")
    best, used = value(plan, "best_waste"), value(plan, "interval_waste")
    saved = value(plan, "best_interval_saves_a_day")
    assert 0 < best < used < 1
    assert saved == pytest.approx(16_384 * 86_400 * (used - best))
    # Young: sqrt(2 x 3.24 s x 11,135 s) = 268.6 s, the exact one a little shorter
    assert value(plan, "best_interval") == pytest.approx(268.6, rel=0.01)


def test_a_run_that_was_never_interrupted_has_no_mtbf_but_a_bound() -> None:
    card = LLAMA + "[reliability]\ninterruptions = 0\nobserved_days = 10"
    plan = planned(card)
    assert plan["observed_mtbf"].value is None
    assert "at least" in str(plan["observed_mtbf"].note)
    assert value(plan, "observed_mtbf_low") == pytest.approx(864_000 / 3.689, rel=1e-3)
    assert value(plan, "observed_rate_high") == pytest.approx(3.689 / 20.48, rel=1e-3)


def test_spares_cost_least() -> None:
    card = LLAMA + "[reliability]\nper_1000_node_days = 3.79\nrepair_h = 132.8"
    best = int(value(planned(card), "spares_that_pay"))
    busy = 2048 * 3.79e-3 * 132.8 / 24
    logs = [k * math.log(busy) - busy - math.lgamma(k + 1) for k in range(400)]
    more = [sum(map(math.exp, logs[spares + 1 :])) for spares in range(200)]
    costs = [2048 * chance + spares for spares, chance in enumerate(more)]
    assert best == costs.index(min(costs))


numbers = st.one_of(
    st.floats(min_value=5e-324, max_value=1.7e308),
    st.integers(1, 2**63 - 1),
    st.none(),
)


@pytest.mark.thorough
@settings(max_examples=examples(20))
@given(st.fixed_dictionaries(dict.fromkeys(FIELDS, numbers)))
def test_no_card_gives_a_line_without_value_and_reason(card: dict[str, Any]) -> None:
    whole = {"tp", "cp", "pp", "dp", "ep", "vpp", "gpus", "gpus_per_node"}
    whole |= {name for name in FIELDS if name.startswith("fabric_")}
    given = {k: max(1, int(v)) if k in whole and v else v for k, v in card.items()}
    for line in draw_up(given | {"rank_order": "tp,cp,pp,dp"}):
        assert line.value is None or math.isfinite(line.value)
        assert line.value is not None or line.note


def test_there_are_no_more_turns_than_writers() -> None:
    card = LLAMA.replace("16384", "16").replace("pp = 16", "pp = 1")
    few = planned(
        card.replace("dp = 128", "dp = 2").replace(
            "store_gbs = 2000", "store_gbs = 20\nbytes = 5e11"
        )
    )
    # 16 writers of 50 GB/s each to a store of 20
    assert value(few, "burst_over_store") == 40.0
    assert value(few, "staggered_turns") == 16.0
    assert value(few, "staggered_rate") == 50e9
    assert "still more than the store takes" in str(few["staggered_turns"].note)
    served = planned(card.replace("dp = 128", "dp = 2").replace("2000", "200"))
    assert value(served, "staggered_turns") == 4.0


def test_nodes_in_reserve_are_paid_for_and_stop_no_run() -> None:
    card = LLAMA.replace("gpus = 16384", "gpus = 16896")
    plan, without = planned(card), planned(LLAMA)
    assert value(plan, "node_days") == value(without, "node_days")
    assert value(plan, "run_mtbf") == value(without, "run_mtbf")
    assert value(plan, "day") > value(without, "day")


def test_lines_that_count_all_experts_on_each_rank_say_so() -> None:
    card = LLAMA.replace("dp = 128", "dp = 128\nep = 16").replace(
        "gpus = 16384", "gpus = 16384\nmemory_bytes = 80e9"
    )
    for name in ("data_buffer_bytes", "data_bytes", "unsharded_memory_share"):
        assert "experts are spread over 16 ranks" in str(planned(card)[name].note)
        assert "experts" not in str(planned(LLAMA)[name].note)
