"""A small generated cluster through the whole pipeline, against the truth about it."""

import shutil
from pathlib import Path

import pytest

from ingest.synthetic.cluster.scenario import Scenario, parse_scenario
from pipeline.querying import rows_of
from tests.truth.generated import (
    LIST,
    analysed,
    assert_accounts,
    assert_measured,
    assert_stops,
    assert_stragglers,
    is_to_be_found,
    judged,
    made_files,
)

pytestmark = pytest.mark.usefixtures("elsewhere")

#: 24 ranks of three hosts for a day, 10 s a step.
SMALL = """
seed = 32
run_id = "small"
[fleet]
hosts = 3
spares = 1
[layout]
tp = 2
dp = 12
[model]
tokens_per_step = 983_040
[schedule]
step_s = 10.0
checkpoint_every = 50
checkpoint_s = 2.0
"""

#: One of each kind. What must be found is just so bad, and lasts just so long.
FAULTS = """
[[faults]]
kind = "slow_gpu"
rank = 5
from_step = 300
steps = 301
severity = 1.062
[[faults]]
kind = "thermal_cap"
rank = 9
from_step = 1_000
steps = 301
severity = 1.062
[[faults]]
kind = "power_cap"
rank = 3
from_step = 1_700
steps = 301
severity = 1.062
[[faults]]
kind = "slow_link"
rank = 12
from_step = 2_400
steps = 301
severity = 1.56
[[faults]]
kind = "flow_collision"
host = 1
from_step = 3_000
steps = 301
severity = 1.56
[[faults]]
kind = "xid"
rank = 11
from_s = 36_000
xid = 95
[[faults]]
kind = "hang"
host = 0
from_s = 40_000
[[faults]]
kind = "data_stall"
from_s = 46_000
length_s = 2_400
severity = 1.5
[[faults]]
kind = "checkpoint_storm"
from_s = 54_000
length_s = 7_200
severity = 5.0
[[faults]]
kind = "lemon_node"
host = 0
from_s = 62_000
length_s = 12_000
severity = 3
[[faults]]
kind = "preemption"
from_s = 80_000
length_s = 1_800
"""


def small(faults: str) -> Scenario:
    return parse_scenario((SMALL + faults).encode(), "small.toml")


def test_every_fault_is_found_with_its_place_and_cause(tmp_path: Path) -> None:
    """First by what machines say alone, then with the list that operators keep."""
    made, truth = made_files(small(FAULTS), tmp_path, "parquet", 60.0)
    lake = tmp_path / "lake"
    kept = tmp_path / LIST.name
    shutil.move(made / LIST, kept)
    analysed(made, lake)
    assert_accounts(lake, truth)
    assert sum(map(is_to_be_found, truth["faults"])) == 5
    assert_stragglers(lake, truth)
    assert_measured(lake, truth)
    assert_stops(lake, truth, listed=False)
    shutil.move(kept, made / LIST)
    analysed(made, lake)
    assert_stops(lake, truth, listed=True)
    assert_accounts(lake, truth)


def test_on_a_healthy_fleet_nothing_is_found(tmp_path: Path) -> None:
    made, truth = made_files(small(""), tmp_path, "parquet", 300.0)
    lake = tmp_path / "lake"
    analysed(made, lake)
    assert_accounts(lake, truth)
    assert truth["faults"] == []
    for table in ("straggler_ranks", "interruptions", "hangs", "lemon_nodes"):
        assert rows_of(lake, f"SELECT * FROM {table}").is_empty(), table


#: 16 ranks of two hosts in 1,080 steps of 80 s.
FEW = """
seed = 33
run_id = "few"
[fleet]
hosts = 2
spares = 1
[layout]
tp = 2
dp = 8
[model]
tokens_per_step = 3_932_160
[schedule]
step_s = 80.0
checkpoint_every = 20
checkpoint_s = 2.0
"""

#: Half of them are slow once: rank, first step, steps and how bad.
ONCE_SLOW = (
    (1, 20, 350, 1.07),
    (2, 120, 420, 1.09),
    (4, 230, 301, 1.062),
    (7, 330, 460, 1.2),
    (8, 430, 350, 1.08),
    (10, 520, 330, 1.15),
    (13, 600, 301, 1.1),
    (14, 160, 340, 1.25),
)


@pytest.mark.thorough
@pytest.mark.parametrize("by_day", [False, True])
def test_half_of_few_ranks_are_found_slow_once(tmp_path: Path, by_day: bool) -> None:
    if by_day:
        (tmp_path / "gpuledger.toml").write_text("by_day_rows = 0\n")
    faults = "".join(
        f'[[faults]]\nkind = "slow_gpu"\nrank = {rank}\nfrom_step = {first}\n'
        f"steps = {steps}\nseverity = {severity}\n"
        for rank, first, steps, severity in ONCE_SLOW
    )
    scenario = parse_scenario((FEW + faults).encode(), "few.toml")
    lake, truth = judged(scenario, tmp_path, "parquet", 300.0)
    assert sum(map(is_to_be_found, truth["faults"])) == len(ONCE_SLOW)
    assert_stragglers(lake, truth)
    rows = rows_of(lake, "SELECT rank, first_step, last_step FROM straggler_ranks")
    assert sorted(rows.rows()) == sorted(
        (rank, first, first + steps - 1) for rank, first, steps, _ in ONCE_SLOW
    )
