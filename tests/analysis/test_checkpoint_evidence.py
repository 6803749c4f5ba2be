"""What saves cost and how often they are needed, from rows drawn by hand."""

from math import exp, factorial

import pytest

from analysis.checkpoint_evidence import find_evidence
from analysis.poisson import mean_interval
from ingest.times import DAY_NS
from tests.analysis.saving import (
    Row,
    S,
    attempt,
    evidence_of,
    frames_of,
    rate,
    save,
    step,
    stop,
)


def test_saves_of_ranks_are_one_save_as_long_as_the_slowest() -> None:
    # three saves, each by ranks 0 and 1: starts 100, 400, 700; stalls 5 and 8 s; safe
    # 40 s after the start, of 1 GB a rank
    saves = [
        save(
            at + rank,
            number,
            rank=rank,
            stall_ns=(5 + 3 * rank) * S,
            duration_ns=30 * S,
            durable_ns=save(at + 40, 0)["start_ns"],
            bytes=10**9,
        )
        for number, at in ((10, 100), (20, 400), (30, 700))
        for rank in (0, 1)
    ]
    found = evidence_of(saves=saves)
    assert found["save_count"] == 3
    assert (found["stall_ns"], found["stall_basis"]) == (8 * S, "saves")
    # 300 s from start to start, 8 s of which stall
    assert (found["interval_ns"], found["interval_basis"]) == (292 * S, "saves")
    assert found["interval_steps"] == 10
    assert found["flush_ns"] == 40 * S
    assert (found["bytes"], found["bytes_basis"]) == (2 * 10**9, "saves")
    assert found["failed_save_count"] == 0


def test_a_save_without_an_end_failed_where_others_have_one() -> None:
    done = [save(at, at, duration_ns=20 * S) for at in (100, 200, 300)]
    assert evidence_of(saves=[*done, save(400, 400)])["failed_save_count"] == 1
    # where no save has an end, the source does not tell
    bare = [save(at, at) for at in (100, 200)]
    assert evidence_of(saves=bare)["failed_save_count"] is None
    # safe is told of all but one
    safe = [save(at, at, durable_ns=1) for at in (100, 200)]
    assert evidence_of(saves=[*safe, done[2]])["failed_save_count"] == 1


def test_without_a_stall_the_time_of_a_save_is_the_most_it_can_be() -> None:
    saves = [save(at, at, duration_ns=20 * S) for at in (100, 200, 300)]
    found = evidence_of(saves=saves)
    assert (found["stall_ns"], found["stall_basis"]) == (20 * S, "held")
    assert found["interval_ns"] == 80 * S
    assert found["flush_ns"] == 20 * S


def test_a_save_that_lasts_into_the_next_stalls_for_a_time_not_known() -> None:
    saves = [save(at, at, duration_ns=75 * S) for at in range(60, 600, 60)]
    found = evidence_of(saves=saves)
    assert (found["stall_ns"], found["stall_basis"]) == (None, "none")
    assert (found["interval_ns"], found["flush_ns"]) == (60 * S, 75 * S)
    # the card's stall is believed where it is shorter than what lies between saves
    for told, stall, every in ((2.0, 2 * S, 58 * S), (60.0, None, 60 * S)):
        card = [{"checkpoint_stall_s": told}]
        found = evidence_of(saves=saves, card=card)
        assert (found["stall_ns"], found["interval_ns"]) == (stall, every)


def test_steps_that_go_on_beside_a_save_do_not_stall() -> None:
    # saves of 20 s every 50 s and ten steps; steps of 5 s leave no room for them
    saves = [save(at, at // 5, duration_ns=20 * S) for at in range(0, 500, 50)]
    beside = [step(n, 5 * n) | {"duration_ns": 5 * S} for n in range(100)]
    found = evidence_of(saves=saves, steps=beside)
    assert (found["stall_ns"], found["flush_ns"]) == (None, 20 * S)
    assert found["interval_ns"] == 50 * S
    # steps of 3 s do
    apart = [step(n, 5 * n) | {"duration_ns": 3 * S} for n in range(100)]
    found = evidence_of(saves=saves, steps=apart)
    assert (found["stall_ns"], found["interval_ns"]) == (20 * S, 30 * S)


def test_steps_that_stood_still_are_saves_and_polls_are_not() -> None:
    # each step looks after the writer for 10 ms; steps 5 and 10 stall 4 and 6 s of the
    # slowest of two ranks
    steps = [
        step(n, 20 * n, {5: 4, 10: 6}.get(n, 0.01) - rank * 0.005, rank)
        for n in range(12)
        for rank in (0, 1)
    ]
    found = evidence_of(steps=steps)
    assert found["save_count"] == 2
    assert (found["stall_ns"], found["stall_basis"]) == (5 * S, "steps")
    # 100 s from start to start, the first stalls 4 s
    assert (found["interval_ns"], found["interval_basis"]) == (96 * S, "steps")
    assert found["interval_steps"] == 5
    assert found["step_ns"] == pytest.approx(10 * S, rel=0.01)
    assert found["flush_ns"] is None


def test_saves_that_cannot_be_of_the_run_are_left_out_and_counted() -> None:
    own = [save(at, at // 10, duration_ns=S) for at in (100, 200, 300)]
    late = [save(at + 366 * 86_400, at // 10) for at in (100, 120, 140)]
    never = [save(at, 10**6 + at) for at in (105, 110)]
    known = [
        attempt(0, 0, 1000, last_step=100, step_basis="steps"),
    ]
    found = evidence_of(saves=[*own, *late, *never], attempts=known)
    assert (found["save_count"], found["elsewhere_save_count"]) == (3, 5)
    assert (found["interval_ns"], found["interval_steps"]) == (99 * S, 10)
    # where all are, that is said; a run that nothing else tells of keeps its saves
    found = evidence_of(saves=late, attempts=known)
    assert (found["save_count"], found["elsewhere_save_count"]) == (0, 3)
    assert found["interval_ns"] is None
    found = evidence_of(saves=late, attempts=[])
    assert (found["save_count"], found["elsewhere_save_count"]) == (3, 0)


def test_an_interval_is_inside_an_attempt() -> None:
    # saves at 100 and 300 of the first attempt, 1200 and 1500 of the second
    saves = [
        save(100, 1, attempt=None),
        save(300, 2, attempt=None),
        save(1200, 3, attempt=None),
        save(1500, 4, attempt=None),
    ]
    assert evidence_of(saves=saves)["interval_ns"] == 250 * S


def test_downtime_and_restart_are_means_with_medians_beside() -> None:
    # away 50, 60 and 190 s after the last step; 20 s from start to step; a planned stop
    stops = [
        stop(0, 900, 950, 970),
        stop(1, 2000, 2060, 2080, category="software"),
        stop(2, 3000, 3190, 3210),
        stop(3, 4000, 9000, 9999, planned=True),
    ]
    found = evidence_of(saves=[save(1, 1)], stops=stops)
    assert found["interruption_count"] == 3
    assert (found["downtime_ns"], found["downtime_median_ns"]) == (100 * S, 60 * S)
    assert (found["restart_ns"], found["restart_basis"]) == (20 * S, "interruptions")
    assert found["far_basis"] == "published"
    more = [stop(n, 100, 110, 120, category="software") for n in range(4, 7)]
    told = evidence_of(saves=[save(1, 1)], stops=[*stops, *more])
    # two of six take their node along
    assert (told["far_ratio"], told["far_basis"]) == (2 / 6, "interruptions")


CARD = {"reliability_interruptions": 20, "reliability_observed_days": 10.0}


def test_own_interruptions_count_from_five_on() -> None:
    many, few = rate(5, 4000, 1700, 12_000), rate(4, 4000, 1600, 15_000)
    saves = [save(1, 1)]
    own = evidence_of(saves=saves, rates=[many], card=[CARD])
    assert (own["mtbf_source"], own["mtbf_ns"]) == ("own", 4000 * S)
    assert own["node_count"] == 2
    assert own["mtbf_chance_ratio"] is None
    rare = rate(4, 40_000, 16_000, 150_000)
    card = evidence_of(saves=saves, rates=[rare], card=[CARD])
    assert (card["mtbf_source"], card["mtbf_ns"]) == ("card_count", DAY_NS // 2)
    low, high = mean_interval(20)
    assert card["mtbf_low_ns"] == pytest.approx(10 * DAY_NS / high)
    assert card["mtbf_high_ns"] == pytest.approx(10 * DAY_NS / low)
    weak = evidence_of(saves=saves, rates=[few])
    assert (weak["mtbf_source"], weak["mtbf_high_ns"]) == ("own_weak", 15_000 * S)
    assert "too few" in weak["mtbf_words"]


def test_a_card_that_the_run_refutes_is_not_taken() -> None:
    # 4 in 16 000 s, where 12 h lie between two: expected 0.37, four or more 0.06 %
    few = rate(4, 4000, 1600, 15_000)
    found = evidence_of(saves=[save(1, 1)], rates=[few], card=[CARD])
    assert (found["mtbf_source"], found["mtbf_ns"]) == ("own_weak", 4000 * S)
    assert found["mtbf_chance_ratio"] is None
    assert "they refute the run card: 20 in 10 days" in found["mtbf_words"]


def test_the_chance_of_what_was_seen_is_told_on_either_side() -> None:
    # 4 in 160 000 s, 3.7 expected: four or more by 1 - exp(-m) (1 + m + ...)
    mean = 160_000 / 43_200
    more = rate(4, 40_000, 16_000, 150_000)
    found = evidence_of(saves=[save(1, 1)], rates=[more], card=[CARD])
    below = exp(-mean) * sum(mean**k / factorial(k) for k in range(4))
    assert found["mtbf_chance_ratio"] == pytest.approx(1 - below)
    # none in five times 12 h: e to the minus five
    none = rate(0, 1, 1, 1) | {"mtbf_ns": None, "exposure_ns": 5 * DAY_NS // 2}
    quiet = evidence_of(saves=[save(1, 1)], rates=[none], card=[CARD])
    assert quiet["mtbf_source"] == "card_count"
    assert quiet["mtbf_chance_ratio"] == pytest.approx(exp(-5))


def test_what_was_seen_of_repairs_goes_before_the_card() -> None:
    card = {"reliability_repair_h": 2.0, "planned_steps": 30}
    steps = [step(number, 10 * number) for number in range(3)]
    frames = frames_of(saves=[save(1, 1)], steps=steps, card=[card])
    told = find_evidence(frames).row(0, named=True)
    assert (told["repair_ns"], told["repair_basis"]) == (7200 * S, "run_card")
    assert told["planned_ns"] == 300 * S
    spare = {"cluster": "c", "run_id": "q", "rate_case": "low", "spares": 0}
    seen = spare | {"repair_ns": 600 * S, "repair_basis": "attempts"}
    for other, hours in (({}, 1 / 6), ({"withheld": "few"}, 2), ({"cluster": "d"}, 2)):
        found = evidence_of(saves=[save(1, 1)], card=[card], spares=[seen | other])
        assert found["repair_ns"] == pytest.approx(hours * 3600 * S)


def test_a_published_rate_is_assumed_by_name() -> None:
    found = evidence_of(saves=[save(1, 1)])
    # 1000 / 3.79 days of two nodes, from 6.50 to 2.34
    assert found["mtbf_source"] == "published"
    assert found["mtbf_ns"] == pytest.approx(1000 / 3.79 / 2 * DAY_NS)
    assert found["mtbf_low_ns"] == pytest.approx(1000 / 6.5 / 2 * DAY_NS)
    assert found["mtbf_high_ns"] == pytest.approx(1000 / 2.34 / 2 * DAY_NS)
    assert "Llama 3" in found["mtbf_words"]
    # the card's own rate goes before it
    card = {"reliability_per_1000_node_days": 10.0}
    told = evidence_of(saves=[save(1, 1)], card=[card])
    assert (told["mtbf_source"], told["mtbf_ns"]) == ("card_rate", 50 * DAY_NS)


def test_a_card_that_saw_none_says_at_least() -> None:
    def told(days: float) -> Row:
        fields = {"reliability_interruptions": 0, "reliability_observed_days": days}
        return evidence_of(card=[fields | {"checkpoint_interval_s": 60.0}])

    # none in 10 000 days: 10 000 / -ln(0.025) of them at least, at 95 %
    found = told(10_000)
    assert found["mtbf_source"] == "card_count"
    assert found["mtbf_ns"] == pytest.approx(10_000 * DAY_NS / 3.688_879, rel=1e-6)
    assert (found["mtbf_low_ns"], found["mtbf_high_ns"]) == (found["mtbf_ns"], None)
    assert found["mtbf_words"] == (
        "run card: none in 10000 days, so 2711 days at least, taken as the mean"
    )
    # 132 days of two nodes at the published rate fit none in 10
    found = told(10)
    assert found["mtbf_source"] == "published"
    assert found["mtbf_words"].endswith(
        "run card: none in 10 days, so 2.71 days at least"
    )


def test_a_card_alone_is_evidence() -> None:
    card = {
        "checkpoint_interval_s": 600.0,
        "checkpoint_stall_s": 12.5,
        "checkpoint_restart_s": 60.0,
        "parameters": 7e9,
        "checkpoint_local_gbs": 10.0,
    }
    found = evidence_of(card=[card])
    assert (found["interval_ns"], found["interval_basis"]) == (600 * S, "card")
    assert (found["stall_ns"], found["stall_basis"]) == (12_500_000_000, "card")
    assert (found["restart_ns"], found["restart_basis"]) == (60 * S, "card")
    assert found["downtime_ns"] is None
    # 16 B of each parameter, half of it on each of two nodes, at 10 GB/s
    assert (found["bytes"], found["bytes_basis"]) == (112 * 10**9, "parameters")
    assert (found["near_stall_ns"], found["tiers_basis"]) == (5_600_000_000, "card")
    assert found["save_count"] == 0


def test_a_card_of_any_size_is_no_crash() -> None:
    greatest = 1.7e308
    card = {
        "checkpoint_interval_s": greatest,
        "checkpoint_stall_s": 1.0,
        "checkpoint_bytes": greatest,
        "checkpoint_local_gbs": 1e-300,
        "reliability_repair_h": 1e300,
        "reliability_interruptions": 1,
        "reliability_observed_days": 1e300,
        "reliability_per_1000_node_days": 1e-300,
    }
    found = evidence_of(card=[card])
    assert found["interval_ns"] is None
    assert found["bytes_basis"] == "none"
    assert found["mtbf_source"] == "published"


def test_saves_of_two_tiers_are_told_apart() -> None:
    saves = [
        save(at, at, tier=tier, stall_ns=stall * S)
        for at, tier, stall in (
            *((100, "memory", 1), (200, "memory", 1), (300, "store", 9)),
            *((400, "memory", 1), (500, "store", 9)),
        )
    ]
    found = evidence_of(saves=saves)
    assert found["tiers"] == "memory, store"
    assert (found["near_stall_ns"], found["far_stall_ns"]) == (S, 9 * S)


def test_a_restart_to_an_older_save_is_counted() -> None:
    saves = [save(100, 10), save(200, 20), save(300, 30)]
    attempts = [attempt(0, 0, 1000), attempt(1, 1100, 2000, resumed_step=21)]
    assert evidence_of(saves=saves, attempts=attempts)["older_resume_count"] == 1
    newest = [attempts[0], attempt(1, 1100, 2000, resumed_step=31)]
    assert evidence_of(saves=saves, attempts=newest)["older_resume_count"] == 0


def test_a_run_that_nothing_tells_of_has_no_row() -> None:
    assert find_evidence(frames_of(steps=[step(0, 0), step(1, 10)])).is_empty()
    assert find_evidence(frames_of(card=[{"parameters": 7e9}])).is_empty()


def test_the_order_of_rows_does_not_matter() -> None:
    steps = [
        step(n, 20 * n, 4 if n % 5 == 0 else 0, r) for n in range(20) for r in (0, 1)
    ]
    assert evidence_of(steps=steps) == evidence_of(steps=steps[::-1])
