"""Scenarios: what they may say, and what is refused in one line."""

import pytest

from ingest.errors import SettingError
from ingest.synthetic.cluster.cluster import cluster_of
from ingest.synthetic.cluster.scenario import load_scenario, packaged, parse_scenario

BASE = b"[fleet]\nhosts = 2\n[layout]\ntp = 8\ndp = 2\n"


def test_every_packaged_scenario_can_be_used() -> None:
    sizes = {name: load_scenario(name).ranks for name in packaged()}
    assert sizes == {"healthy": 1_024, "llama3": 16_384, "pod": 1_024, "sample": 16}


def test_seed_and_days_are_replaced() -> None:
    scenario = load_scenario("sample", seed=7, days=1)
    assert (scenario.seed, scenario.calendar.days) == (7, 1)


def test_llama3_stops_as_its_paper_counts() -> None:
    # 419 unexpected stops by the mix of table 5, and 47 planned ones, in 54 days
    from ingest.synthetic.cluster._drawn import drawn_faults

    stops = [one for one in drawn_faults(load_scenario("llama3")) if one.stops]
    causes = [one.cause for one in stops if not one.planned]
    assert (len(causes), len(stops)) == (419, 466)
    assert causes.count("Faulty GPU") == 148
    assert causes.count("GPU HBM3 Memory") == 72


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"[fleet]\nhosts = 3\n[layout]\ntp = 8\ndp = 2\n", "expected 24"),
        (BASE + b"[noise]\njitter = 1\n", "noise.jitter: unknown key"),
        (BASE + b"[noise]\nrank_cv = 0.5\n", "noise.rank_cv: expected a number <= 0.2"),
        (BASE + b"[calendar]\nbegun = 2026-03-02T00:00:00\n", "offset from UTC"),
        (BASE + b"[calendar]\nload_s = [9, 3]\n", "lesser bound first"),
        (BASE + b"[schedule]\ndata_s = 5\n", "less than half"),
        (BASE + b"[[faults]]\nkind = 'hang'\nfrom_s = 1\n", "a rank or a host"),
        (BASE + b"[[faults]]\nkind = 'hang'\nrank = 16\nfrom_s = 1\n", "less than 16"),
        (BASE + b"[[faults]]\nkind = 'slow_gpu'\nrank = 1\nfrom_s = 1\n", "length_s"),
        (
            BASE + b"[[faults]]\nkind = 'slow_gpu'\nrank = 1\nfrom_step = 1\n"
            b"length_s = 2\n",
            "expected steps",
        ),
        (
            BASE + b"[[faults]]\nkind = 'fire'\nfrom_s = 1\n",
            "faults[0].kind: 'fire', expected one of slow_gpu",
        ),
        (b"seed = \n", "not a scenario"),
        (b"", "fleet: expected, but not there"),
        (b"\x00\xff", "not a scenario"),
        (b"run_id = 'a\\nb'\n" + BASE, "run_id: expected text of letters"),
        (BASE + b"[schedule]\nstep_s = nan\n", "schedule.step_s: expected a number"),
        (BASE + b"[schedule]\nstep_s = inf\n", "expected a number <= 600"),
        (BASE + b"[model]\nparameters = -inf\n", "expected a number > 0"),
        (BASE + b"[calendar]\ndays = 100_000_000\n", "a whole number <= 731"),
        (b"[fleet]\nhosts = -1\n", "fleet.hosts: expected a whole number >= 1"),
        (BASE + b'"a\\u001b[31m" = 1\n', "unknown key"),
    ],
)
def test_what_cannot_be_used_is_refused(text: bytes, told: str) -> None:
    with pytest.raises(SettingError) as refused:
        parse_scenario(text, "mine.toml")
    message = str(refused.value)
    assert message.startswith("mine.toml: ")
    assert told in message
    assert message.isprintable()
    assert "$" not in message


def test_no_such_scenario() -> None:
    with pytest.raises(SettingError, match="one of healthy, llama3, pod, sample"):
        load_scenario("nowhere")


def test_boards_are_each_their_own() -> None:
    gpus = cluster_of(load_scenario("sample", days=1)).fleet.gpus
    assert gpus.height == 24
    assert gpus["rank"].null_count() == 8
    for column in ("gpu_uuid", "serial"):
        assert gpus[column].n_unique() == 24
