"""Who held a sampled GPU when. Times are seconds, power is 100 W throughout."""

from typing import Any

import polars as pl
import pytest

from analysis._analysis import Frames
from analysis.allocations import Allocations
from analysis.energy import ANALYSIS, Energy
from analysis.gpus import Gpus
from ingest.tables import PowerSamples, Table
from ingest.times import SECOND_NS

Row = dict[str, Any]

UUID = "GPU-5ee1"


def samples(
    gpu_uuid: str = UUID, until: int = 40, host: str | None = "a", **other: Any
) -> list[Row]:
    """A sample of 100 W each second."""
    row = {
        "cluster": "pod",
        "host": host,
        "gpu_uuid": gpu_uuid,
        "level": "gpu_board",
        "time_quality": "exact",
        "power_average_w": 100.0,
    }
    return [row | {"time_ns": at * SECOND_NS} | other for at in range(until + 1)]


def held(run_id: str, start: int, end: int, **other: Any) -> Row:
    """A GPU of a run, as both Gpus and Allocations tell it."""
    row = {
        "run_id": run_id,
        "attempt": start,
        "cluster": "pod",
        "rank": 0,
        "host": "a",
        "gpu_uuid": UUID,
        "from_ns": start * SECOND_NS,
        "to_ns": end * SECOND_NS,
    }
    return row | other


def rows_of(table: type[Table], rows: list[Row]) -> pl.LazyFrame:
    schema = table.create_empty().schema
    kept = [{key: row[key] for key in row if key in schema} for row in rows]
    return pl.DataFrame(kept, schema=schema).lazy()


def measure(power: list[Row], holds: list[Row]) -> dict[tuple[str | None, str], Row]:
    """Rows of Energy by run and device."""
    frames = {
        PowerSamples: rows_of(PowerSamples, power),
        Allocations: rows_of(Allocations, holds),
        Gpus: rows_of(Gpus, holds),
    }
    found = ANALYSIS.compute(Frames(frames), ANALYSIS.thresholds)[Energy]
    rows = Energy.validate(found)
    keys = rows.select(Energy.key)
    assert keys.n_unique() == keys.height
    return {(row["run_id"], row["gpu_uuid"]): row for row in rows.to_dicts()}


def joules(found: dict[tuple[str | None, str], Row]) -> dict[str | None, float]:
    return {run: row["energy_j"] for (run, _), row in found.items()}


def test_energy_goes_to_the_run_that_held_the_gpu_and_the_rest_to_none() -> None:
    # second 0     10        30    40
    # run    |     | r       |     |
    found = measure(samples(), [held("r", 10, 30)])
    assert joules(found) == {"r": pytest.approx(2_000), None: pytest.approx(2_000)}
    of_run = found["r", UUID]
    assert (of_run["from_ns"], of_run["to_ns"]) == (10 * SECOND_NS, 30 * SECOND_NS)
    assert of_run["coverage_ratio"] == 1
    assert of_run["mean_w"] == pytest.approx(100)
    assert of_run["quality"] is None


def test_attempts_of_a_run_add_up_without_the_time_between() -> None:
    found = measure(samples(), [held("r", 0, 10), held("r", 30, 40)])
    assert joules(found) == {"r": pytest.approx(2_000), None: pytest.approx(2_000)}
    assert found["r", UUID]["coverage_ratio"] == 1


def test_a_gpu_has_one_row_where_it_was_held_throughout_or_never() -> None:
    assert joules(measure(samples(), [])) == {None: pytest.approx(4_000)}
    assert joules(measure(samples(), [held("r", 0, 40)])) == {"r": pytest.approx(4_000)}


def test_time_that_was_held_and_not_sampled_lowers_the_coverage() -> None:
    found = measure(samples(), [held("r", 0, 160)])["r", UUID]
    assert found["coverage_ratio"] == pytest.approx(0.25)
    assert found["quality"] == "unbracketed"


def test_a_run_whose_gpu_was_sampled_at_another_time_has_no_energy() -> None:
    found = measure(samples(), [held("r", 100, 200)])["r", UUID]
    assert (found["energy_j"], found["method"]) == (None, "none")
    assert (found["coverage_ratio"], found["samples_count"]) == (0, 0)
    assert found["quality"] == "no_samples,unbracketed"


def test_time_that_two_runs_share_is_counted_once() -> None:
    # r: 0 to 30     q: 20 to 40
    found = measure(samples(), [held("r", 0, 30), held("q", 20, 40)])
    assert joules(found) == {"r": pytest.approx(3_000), "q": pytest.approx(1_000)}
    assert {row["quality"] for row in found.values()} == {"shared"}


@pytest.mark.parametrize(
    ("identity", "seat"),
    [
        ("pci:0000:5d:00", {"pci_address": "00000000:5D:00.0"}),
        ("index:3", {"local_rank": 3}),
        (UUID, {"gpu_uuid": UUID}),
    ],
)
def test_a_gpu_is_known_by_uuid_address_or_position(identity: str, seat: Row) -> None:
    holds = [held("r", 0, 40, **({"gpu_uuid": None} | seat))]
    assert joules(measure(samples(identity), holds)) == {"r": pytest.approx(4_000)}


def test_a_position_counts_only_on_its_own_node() -> None:
    holds = [held("r", 0, 40, gpu_uuid=None, local_rank=3)]
    holds += [held("q", 0, 40, gpu_uuid=None, local_rank=3, host="b")]
    found = measure(samples("index:3", host="c"), holds)
    assert joules(found) == {None: pytest.approx(4_000)}


def test_a_uuid_is_enough_where_samples_name_no_node() -> None:
    found = measure(samples(host=None), [held("r", 0, 40)])
    assert joules(found) == {"r": pytest.approx(4_000)}
    assert found["r", UUID]["quality"] is None


def test_samples_without_a_node_are_of_the_only_one_that_runs_know() -> None:
    holds = [held("r", 0, 40, gpu_uuid=None, local_rank=3)]
    found = measure(samples("index:3", host=None), holds)
    assert found["r", "index:3"]["quality"] == "host_assumed"


def test_files_of_the_only_node_follow_each_other() -> None:
    holds = [held("r", 0, 40, gpu_uuid=None, local_rank=3)]
    old, new = samples("index:3 of a b", 20, None), samples("index:3 of a c", 40, None)
    found = measure(old + new[20:], holds)
    assert [row["energy_j"] for row in found.values()] == [2_000, 2_000]
    assert {row["quality"] for row in found.values()} == {"unbracketed,host_assumed"}
    assert {run for run, _ in found} == {"r"}


def test_files_of_one_time_are_of_several_nodes_and_of_none_that_is_known() -> None:
    holds = [held("r", 0, 40, gpu_uuid=None, local_rank=3)]
    power = samples("index:3 of a b", host=None) + samples("index:3 of a c", host=None)
    assert {run for run, _ in measure(power, holds)} == {None}
    between = [samples("index:3", until=30), samples("index:3", until=50)]
    for power_known in between:
        found = measure(power + power_known, holds)
        assert {gpu for run, gpu in found if run} == {"index:3"}
    known = measure(power + samples("index:3"), holds)
    assert joules({k: row for k, row in known.items() if k[0]}) == {"r": 4_000}


def test_a_gpu_that_is_sampled_under_two_names_is_counted_once() -> None:
    holds = [held("r", 0, 40, local_rank=3)]
    found = measure(samples() + samples("index:3"), holds)
    assert joules(found) == {"r": pytest.approx(4_000)}


def test_instances_of_one_board_repeat_its_power() -> None:
    copies = samples() + samples(power_average_w=102.0) + samples()
    found = measure(copies, [held("r", 0, 40)])
    assert joules(found) == {"r": pytest.approx(4_040)}


def test_power_of_nodes_and_racks_is_not_that_of_a_gpu() -> None:
    power = samples(level="node_ac", power_average_w=9_000.0)
    assert measure(power, []) == {}


def test_a_module_stands_in_where_no_board_was_sampled() -> None:
    modules = samples(level="module", power_average_w=150.0)
    alone = measure(modules, [])[None, UUID]
    assert (alone["energy_j"], alone["quality"]) == (6_000, "module_level")
    assert joules(measure(modules + samples(), [])) == {None: pytest.approx(4_000)}


def test_a_sensor_that_stands_still_while_the_gpu_works_is_stale() -> None:
    working = samples()
    for at, row in enumerate(working):
        row["utilization_ratio"] = at % 2
    assert measure(working, [])[None, UUID]["quality"] == "stale_sensor"
    assert measure(samples(utilization_ratio=1.0), [])[None, UUID]["quality"] is None


def test_doubts_of_the_samples_are_told() -> None:
    power = samples(time_quality="zone_assumed")
    power[5]["power_average_w"] = None
    found = measure(power, [])[None, UUID]
    assert found["quality"] == "sentinel,zone_assumed"
    assert found["samples_count"] == 40


def test_one_sample_makes_a_row_without_energy() -> None:
    found = measure(samples(until=0), [])[None, UUID]
    assert (found["method"], found["energy_j"]) == ("none", None)
    assert found["quality"] == "single_sample"


def test_gpus_of_two_nodes_do_not_mix() -> None:
    power = samples() + samples("GPU-0b", host="b", power_average_w=300.0)
    found = measure(power, [])
    assert found[None, "GPU-0b"]["energy_j"] == pytest.approx(12_000)
    assert found[None, UUID]["energy_j"] == pytest.approx(4_000)
