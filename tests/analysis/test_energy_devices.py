"""One device, however its sources spell it and its host. Power is 100 W throughout."""

from typing import Any

import polars as pl
import pytest

from analysis._analysis import Frames
from analysis._energy_chunks import devices_of, samples_of
from analysis._straggler_power import gpu_keys, power_of
from analysis.allocations import Allocations
from analysis.energy import ANALYSIS, Energy
from analysis.gpus import Gpus
from ingest.tables import PowerSamples, Table
from ingest.times import SECOND_NS

Row = dict[str, Any]

UUID = "GPU-627ffa93-56b8-50bc-e2aa-8743f6ba7909"


def power(host: str | None, gpu_uuid: str = UUID, **other: Any) -> list[Row]:
    row = {
        "cluster": "pod",
        "host": host,
        "gpu_uuid": gpu_uuid,
        "level": "gpu_board",
        "time_quality": "exact",
        "power_average_w": 100.0,
    }
    return [row | {"time_ns": at * SECOND_NS} | other for at in range(41)]


HELD: Row = {
    "run_id": "r",
    "attempt": 0,
    "cluster": "pod",
    "rank": 0,
    "host": "n-0",
    "local_rank": 3,
    "gpu_uuid": UUID,
    "from_ns": 0,
    "to_ns": 40 * SECOND_NS,
}


def rows_of(table: type[Table], rows: list[Row]) -> pl.LazyFrame:
    schema = table.create_empty().schema
    kept = [{key: row[key] for key in row if key in schema} for row in rows]
    return pl.DataFrame(kept, schema=schema).lazy()


def energy(samples: list[Row], *held: Row) -> list[Row]:
    frames = {
        PowerSamples: rows_of(PowerSamples, samples),
        Allocations: rows_of(Allocations, list(held)),
        Gpus: rows_of(Gpus, list(held)),
    }
    found = ANALYSIS.compute(Frames(frames), ANALYSIS.thresholds)[Energy]
    return Energy.validate(found).to_dicts()


@pytest.mark.parametrize(
    "other", ["monday", None, "n-0.cluster.local", "N-0", "another"]
)
def test_a_uuid_is_one_device_whatever_its_host_is_called(other: str | None) -> None:
    (alone,) = energy(power("n-0", file_id="a") + power(other, file_id="b"), HELD)
    assert (alone["run_id"], alone["host"]) == ("r", "n-0")
    assert alone["energy_j"] == pytest.approx(4_000)
    (free,) = energy(power("n-0", file_id="a") + power(other, file_id="b"))
    assert free["energy_j"] == pytest.approx(4_000)


@pytest.mark.parametrize("host", ["monday", None, "n-0.cluster.local"])
def test_a_uuid_is_of_the_run_that_held_it_wherever_it_was_sampled(
    host: str | None,
) -> None:
    (found,) = energy(power(host), HELD)
    assert (found["run_id"], found["host"], found["quality"]) == ("r", "n-0", None)


def test_a_uuid_is_the_same_in_small_letters() -> None:
    (found,) = energy(power("n-0", UUID.lower()) + power("n-0"), HELD)
    assert (found["run_id"], found["gpu_uuid"]) == ("r", UUID)


def test_a_blank_uuid_is_no_device_by_itself() -> None:
    blank = "GPU-00000000-0000-0000-0000-000000000000"
    assert len(energy(power("n-0", blank) + power("n-1", blank))) == 2


def test_a_position_is_of_its_node_however_that_is_spelled() -> None:
    both = power("n-0.cluster.local", "index:3") + power("n-0", "index:3")
    (found,) = energy(both, HELD | {"gpu_uuid": None})
    assert (found["run_id"], found["host"]) == ("r", "n-0")
    assert found["energy_j"] == pytest.approx(4_000)
    elsewhere = energy(power("monday", "index:3"), HELD | {"gpu_uuid": None})
    assert [row["run_id"] for row in elsewhere] == [None]


def test_samples_of_a_device_are_of_all_its_hosts() -> None:
    samples = rows_of(PowerSamples, power("n-0") + power("z") + power(None))
    devices = devices_of(samples, Gpus.create_empty())
    assert devices.select("host", "samples").rows() == [("n-0", 123)]
    assert samples_of(samples, devices).height == 123


@pytest.mark.parametrize(
    ("gpu_uuid", "host"),
    [(UUID, "monday"), (UUID.lower(), None), ("index:3", "N-0.cluster.local")],
)
def test_evidence_of_slow_ranks_finds_power_the_same_way(
    gpu_uuid: str, host: str | None
) -> None:
    seats = pl.DataFrame(
        [HELD | {"trace_id": None, "device": None, "pci_address": None}],
        schema_overrides=Gpus.create_empty().schema,
    )
    spans = gpu_keys(seats).with_columns(
        from_ns=pl.lit(0), to_ns=pl.lit(40 * SECOND_NS), owner=pl.lit("o")
    )
    samples = rows_of(PowerSamples, power(host, gpu_uuid, power_limit_w=0.0))
    (found,) = power_of(samples, spans, "owner").to_dicts()
    assert (found["power_w"], found["limit_w"], found["at_limit"]) == (100, None, None)
