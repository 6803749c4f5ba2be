"""Whose a GPU is, where a source tells it from others of its node only."""

from typing import Any

import pytest

from ingest.sources import (
    Batch,
    Source,
    dcgmi_dmon,
    nvidia_smi,
    nvidia_smi_dmon,
    prometheus_text,
    zeus,
)
from tests.ingest.readings import held, read_lines, refused

DMON = ("#Date Time gpu pwr", "#YYYYMMDD HH:MM:SS Idx W", "20240104 13:54:35 0 239")
DCGMI = ("#Entity   POWER", "ID        W", "1777708107.1 GPU 0     120.500")
QUERY = (
    "timestamp, pci.bus_id, power.draw",
    "2024/01/04 13:54:35, 00000000:5D:00.0, 5",
)
ZEUS = (
    "start_time,window_name,elapsed_time,gpu0_energy",
    "1773114089.943,step_1,0.5,100.25",
)
POWER = "DCGM_FI_DEV_POWER_USAGE"

FILES: list[tuple[Source, tuple[str, ...]]] = [
    (nvidia_smi_dmon.SOURCE, DMON),
    (dcgmi_dmon.SOURCE, DCGMI),
    (nvidia_smi.SOURCE, QUERY),
    (zeus.SOURCE, ZEUS),
    (prometheus_text.SOURCE, (f'{POWER}{{gpu="0"}} 5',)),
]


def devices(batches: list[Batch]) -> list[str]:
    assert refused(batches) == []
    frames = [frame for batch in batches for frame in batch.rows.values()]
    return [gpu for frame in frames for gpu in frame["gpu_uuid"].to_list()]


def read(source: Source, lines: tuple[str, ...], **told: Any) -> list[str]:
    return devices(held(read_lines(source, *lines, **told)))


@pytest.mark.parametrize(("source", "lines"), FILES)
def test_without_a_node_a_number_is_of_its_file(
    source: Source, lines: tuple[str, ...]
) -> None:
    of_one, of_other = (
        read(source, lines, name="log.csv", file_id=digit * 32) for digit in "ab"
    )
    assert [gpu.partition(" of ")[2] for gpu in of_one] == ["log.csv aaaaaaaa"]
    assert set(of_one).isdisjoint(of_other)


@pytest.mark.parametrize(("source", "lines"), FILES[:-1])
def test_with_a_node_a_number_is_of_the_node(
    source: Source, lines: tuple[str, ...]
) -> None:
    (of_one,), (of_other,) = (
        read(source, lines, name="smi-n1.csv", file_id=digit * 32) for digit in "ab"
    )
    assert of_one == of_other
    assert of_one in ("index:0", "pci:0000:5d:00")


def test_a_uuid_is_one_in_all_files() -> None:
    line = f'{POWER}{{gpu="0",UUID="GPU-1"}} 5'
    assert read(prometheus_text.SOURCE, (line,)) == ["GPU-1"]


def test_a_number_is_of_the_address_that_was_scraped() -> None:
    lines = tuple(
        f'{POWER}{{gpu="0",instance="{instance}:9400"}} 5'
        for instance in ("10.0.0.1", "10.0.0.2", "127.0.0.1")
    )
    assert sorted(read(prometheus_text.SOURCE, lines, file_id="a" * 32)) == [
        "index:0 of 10.0.0.1",
        "index:0 of 10.0.0.2",
        "index:0 of any aaaaaaaa",
    ]
