"""Scenarios: what they may say, and what is refused in one line."""

from itertools import pairwise
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from ingest import run_card
from ingest.errors import SettingError
from ingest.synthetic.cluster._scenario_checks import contradictions
from ingest.synthetic.cluster._scenario_faults import Kind
from ingest.synthetic.cluster.cluster import cluster_of
from ingest.synthetic.cluster.scenario import (
    Calendar,
    Fault,
    FaultsDrawn,
    Fleet,
    Layout,
    Model,
    Noise,
    Scenario,
    Schedule,
    load_scenario,
    packaged,
    parse_scenario,
)
from ingest.synthetic.cluster.scenario_text import scenario_lines
from ingest.synthetic.cluster.write_card import card_lines

BASE = b"[fleet]\nhosts = 2\n[layout]\ntp = 8\ndp = 2\n"


#: A slow GPU for 100 s, at a place and a time.
SLOW = b"[[faults]]\nkind = 'slow_gpu'\nlength_s = 100\n%b\n"


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
        (
            BASE + b"[noise]\njitter = 1\n",
            "noise.jitter: unknown key; remove it, or correct it to one of rank_cv, ",
        ),
        (BASE + b"colour = 1\n", "layout.colour: unknown key; remove it, or correct"),
        (
            b"colour = 1\n" + BASE,
            "colour: unknown key; remove it, or correct it to one",
        ),
        (
            BASE + b"[[faults]]\nkind = 'hang'\nwhen = 3\n",
            "faults[0].when: unknown key; remove it, or correct it to one of kind",
        ),
        (BASE + b"a" * 100_000 + b" = 1\n", f"layout.{'a' * 60}...: unknown key; "),
        (
            BASE + b"[calendar]\nbegun = '2026-03-02T00:00:00Z'\n",
            "calendar.begun: expected a time such as 2026-03-02T00:00:00Z, no quotes,",
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
        (b"\xff\xfe" + BASE, "not a scenario"),
        (BASE + b"seed = 1\nseed = 2\n", "not a scenario"),
        (b"seed = -1\n" + BASE, "seed: expected a whole number >= 0"),
        (b"seed = 1.5\n" + BASE, "seed: expected a whole number, got a number"),
        (b"seed = 1e999\n" + BASE, "seed: "),
        (b"fleet = 1\n", "fleet: expected a table, got a whole number"),
        (
            b"[fleet]\nhosts = 0\n[layout]\n",
            "fleet.hosts: expected a whole number >= 1",
        ),
        (b"[fleet]\nhosts = '2'\n", "fleet.hosts: expected a whole number, got text"),
        (b"[fleet]\nhosts = 9_999_999\n", "fleet.hosts: expected a whole number <="),
        (
            b"[fleet]\nhosts = 200_000\n[layout]\ntp = 8\ndp = 200_000\n",
            "1,600,000 GPUs: expected at most 131,072; lower fleet.hosts",
        ),
        (BASE + b"[calendar]\nbegun = 1900-01-01T00:00:00Z\n", "year of 1971 to 2097"),
        (BASE + b"[calendar]\nbegun = 2098-01-01T00:00:00Z\n", "year of 1971 to 2097"),
        (BASE + b"[calendar]\nbegun = 2026-03-02\n", "calendar.begun: "),
        (BASE + b"[calendar]\nbegun = 'today'\n", "calendar.begun: "),
        (
            BASE + b"[[faults]]\nkind = 'preemption'\nfrom_s = 1\nlength_s = 5e-324\n",
            "faults[0].length_s: expected a number >= 0.001",
        ),
        (b"run_id = '..'\n" + BASE, "run_id: expected text of letters, digits"),
        (b"run_id = '.hidden'\n" + BASE, "run_id: expected text of letters, digits"),
        (b"run_id = 'a/b'\n" + BASE, "run_id: expected text of letters, digits"),
        (b'run_id = "a\\n"\n' + BASE, "run_id: expected text of letters, digits"),
        (b"run_id = 'truth.json'\n" + BASE, "run_id: truth.json is the name of"),
        (BASE + b"[model]\nname = 'a\"b'\n", "model.name: expected text in one line"),
        (BASE + b"[model]\nname = 'a\\b'\n", "without quotes and backslashes"),
        (BASE + b"[model]\ntokens_per_step = 1e6\n", "expected a whole number, got"),
        (
            BASE + b"[model]\ntokens_per_step = 10_000\n",
            "10000: expected a multiple of layout.dp x model.sequence_length, 2 x 8192",
        ),
        (
            b"[fleet]\nhosts = 5\n[layout]\npp = 40\n",
            "pp x vpp is 40: expected at most model.layers, 32",
        ),
        (
            BASE + b"[schedule]\nstep_s = 600\ncheckpoint_every = 100_000\n",
            "schedule.checkpoint_every: expected a year at most",
        ),
        (
            BASE + b"[schedule]\nstep_s = 0.01\ncommunication_share = 0\ndata_s = 0\n"
            b"[calendar]\ndays = 700\n",
            "700 days have 6,048,000,000 steps: expected at most 8,000,000",
        ),
        (
            BASE + b"[calendar]\nqueue_s = [80_000, 86_400]\n",
            "calendar.queue_s: the first step may come after 86,640 s: expected before",
        ),
        (
            BASE + b"[faults_drawn]\nera_days = 1\nstops = 1_000_000\n",
            "some 1,000,000 faults: expected at most 100,000",
        ),
        (BASE + b"[faults_drawn]\nstops = 2.5\n", "expected a whole number, got"),
        (
            BASE + b"[[faults]]\nkind = 'hang'\nrank = 1\nfrom_s = 1\nseverity = 2\n",
            "faults[0].severity: hang has none; leave it out",
        ),
        (
            # 1 + 600 s / (6 s x (1 - 0.1 - 0.01) - 0.02 s)
            BASE + SLOW % b"rank = 3\nfrom_s = 1\nseverity = 114",
            "faults[0].severity: 114: expected at most 113.781, with which a step is",
        ),
        (
            BASE + b"[[faults]]\nkind = 'data_stall'\nfrom_s = 1\nlength_s = 9\n"
            b"severity = 401\n",
            "faults[0].severity: 401: expected at most 400,",
        ),
        (
            BASE + b"[[faults]]\nkind = 'checkpoint_storm'\nfrom_s = 1\n"
            b"length_s = 9\nseverity = 300\n",
            "faults[0].severity: 300: expected at most 201,",
        ),
        (
            # each 600 s + 4320 s x exp(-600 / 4320) of a day, at 16 ranks
            BASE + b"[faults_drawn]\nera_days = 1\nslow_gpus = 500\n",
            "faults_drawn.slow_gpus: 500: some 25.2 at once: expected at most 16;",
        ),
        (
            BASE + b"[faults_drawn]\nera_days = 1\ndata_stalls = 20\n",
            "faults_drawn.data_stalls: 20: some 1.01 at once: expected at most 1;",
        ),
        (
            BASE + b"[[faults]]\nkind = 'hang'\nrank = 1\nfrom_step = 14_400\n",
            "faults[0].from_step: 14,400: expected less than 14,400, steps of",
        ),
        (
            BASE + b"[[faults]]\nkind = 'xid'\nrank = 1\nfrom_s = 86_400\n",
            "faults[0].from_s: 86400: expected less than 86400, the calendar's end",
        ),
        (
            BASE + SLOW % b"rank = 3\nfrom_s = 10" + SLOW % b"rank = 3\nfrom_s = 109",
            "faults[1]: slow_gpu at the place and time of faults[0]; move one",
        ),
        (
            BASE + SLOW % b"rank = 9\nfrom_s = 50" + SLOW % b"host = 1\nfrom_s = 10",
            "faults[0]: slow_gpu at the place and time of faults[1]; move one",
        ),
        (
            BASE + 2 * b"[[faults]]\nkind = 'data_stall'\nfrom_step = 5\nsteps = 2\n",
            "faults[1]: data_stall at the place and time of faults[0]; move one",
        ),
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


@pytest.mark.parametrize("name", packaged())
def test_a_scenario_is_written_as_it_is_read(name: str) -> None:
    scenario = load_scenario(name)
    text = "".join(f"{line}\n" for line in scenario_lines(scenario))
    assert parse_scenario(text.encode(), "mine.toml") == scenario


def test_every_key_is_told_with_its_meaning() -> None:
    lines = [*scenario_lines(load_scenario("sample"))]
    keys = {line.lstrip("#").partition(" =")[0] for line in lines if " =" in line}
    parts = (Scenario, Fleet, Layout, Model, Schedule, Calendar, Noise, FaultsDrawn)
    expected = {name for one in parts for name in one.__struct_fields__}
    tables = {one.partition("[")[2].rstrip("]") for one in lines if one[:1] == "["}
    assert expected <= keys | {one.lstrip("[") for one in tables}
    for line, key in pairwise(lines):
        if " =" in key and not line.startswith("#"):
            # keys of listed faults are told once, above
            assert key.partition(" =")[0] in Fault.__struct_fields__
    told = [line for line in lines if line.startswith("# ") and "default" in line]
    assert all(line[2].isupper() for line in told)
    for kind in get_args(Kind):
        assert any(line.startswith(f"#   {kind} (") for line in lines)


def test_no_such_scenario() -> None:
    with pytest.raises(SettingError, match="one of healthy, llama3, pod, sample"):
        load_scenario("nowhere")


def test_boards_are_each_their_own() -> None:
    gpus = cluster_of(load_scenario("sample", days=1)).fleet.gpus
    assert gpus.height == 24
    assert gpus["rank"].null_count() == 8
    for column in ("gpu_uuid", "serial"):
        assert gpus[column].n_unique() == 24


def test_faults_of_a_kind_may_follow_each_other() -> None:
    text = (
        BASE
        + SLOW % b"rank = 3\nfrom_s = 10"
        + SLOW % b"rank = 3\nfrom_s = 110"
        + SLOW % b"rank = 4\nfrom_s = 50"
        + b"[[faults]]\nkind = 'power_cap'\nrank = 3\nfrom_s = 20\nlength_s = 100\n"
    )
    assert len(parse_scenario(text, "mine.toml").faults) == 4


@pytest.mark.parametrize(
    ("option", "told"), [({"seed": -1}, "--seed: -1"), ({"days": 0}, "--days: 0")]
)
def test_what_replaces_a_field_has_its_bounds(
    option: dict[str, int], told: str
) -> None:
    with pytest.raises(SettingError, match=told):
        load_scenario("sample", **option)


def test_no_end_of_a_file_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_bytes(b"#" * (5 << 20))
    with pytest.raises(SettingError, match="expected at most 4,194,304 bytes"):
        load_scenario(str(tmp_path / "long.toml"))
    for name in ("/dev/zero", str(tmp_path), "", "a\0b"):
        with pytest.raises(SettingError, match="no such scenario"):
            load_scenario(name)


@settings(deadline=None)
@given(
    sizes=st.tuples(*[st.integers(1, 6)] * 5),
    order=st.permutations(["tp", "cp", "pp", "dp"]),
    name=st.text(min_size=1, max_size=80),
    numbers=st.tuples(
        st.floats(0.01, 600), st.floats(0.001, 1e17), st.integers(1, 1_000_000)
    ),
    spares=st.integers(0, 9),
)
def test_what_is_taken_makes_a_run_card_that_is_taken(
    sizes: tuple[int, ...],
    order: list[str],
    name: str,
    numbers: tuple[float, float, int],
    spares: int,
) -> None:
    tp, cp, pp, dp, vpp = sizes
    step_s, amount, every = numbers
    said = {
        "fleet": {"hosts": tp * cp, "gpus_per_node": pp * dp, "spares": spares}
        | {"gpu": name, "tdp_w": 50 + step_s},
        "layout": {"tp": tp, "cp": cp, "pp": pp, "dp": dp, "vpp": vpp, "order": order},
        "model": {"name": name, "parameters": amount, "peak_tflops": amount},
        "schedule": {"step_s": step_s, "checkpoint_every": every}
        | {"data_s": 0, "planned_steps": every, "usd_per_gpu_hour": step_s},
        "calendar": {"reserved": spares > 0},
    }
    try:
        scenario = msgspec.convert(said, Scenario)
    except msgspec.ValidationError:
        reject()
    assume(contradictions(scenario) is None)
    text = "".join(f"{line}\n" for line in card_lines(scenario))
    card = run_card.parse(text.encode(), "run.toml")
    assert card.layout is not None
    assert card.layout.ranks == scenario.ranks
    assert card.model == name
    gpus = (tp * cp + spares) * pp * dp
    assert card.reserved_gpus == (gpus if spares else None)
