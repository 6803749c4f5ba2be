"""Logs of nvidia-smi: modules, hosts, headroom, no header, other queries."""

import pytest

from ingest.errors import UnreadableFileError
from ingest.sources import Head, nvidia_smi
from tests.ingest.readings import reading, records, refused
from tests.ingest.smi_logs import HEADER, NOON, one, read, samples


def test_power_of_the_module_has_a_row_of_its_own() -> None:
    header = (
        "timestamp, uuid, power.draw [W], module.power.draw.average [W],"
        " module.power.draw.instant [W], module.enforced.power.limit [W]"
    )
    lines = [
        f"{NOON}, GPU-1, 598.25 W, 742.50 W, 760.25 W, 1000.00 W",
        f"{NOON}, GPU-2, 599.25 W, [N/A], [N/A], [N/A]",
    ]
    batches = read(header, *lines)
    found = samples(batches)
    assert [(row["gpu_uuid"], row["level"]) for row in found] == [
        ("GPU-1", "gpu_board"),
        ("GPU-2", "gpu_board"),
        ("GPU-1", "module"),
    ]
    module = found[2]
    assert (module["power_average_w"], module["power_instant_w"]) == (742.5, 760.25)
    assert module["power_limit_w"] == 1_000.0
    assert (records(batches), refused(batches)) == (2, [])


def test_the_host_may_be_a_field() -> None:
    told = reading(name="smi-node-07.csv")
    header = "timestamp, uuid, power.draw, hostname"
    assert one(header, f"{NOON}, GPU-1, 5, node-08", told)["host"] == "node-08"
    assert one(header, f"{NOON}, GPU-1, 5, [N/A]", told)["host"] == "node-07"


def test_headroom_is_no_temperature() -> None:
    header = "timestamp, temperature.gpu.tlimit, temperature.gpu, power.draw"
    assert one(header, f"{NOON}, 26, 59, 5")["temperature_c"] == 59.0
    header = "timestamp, temperature.gpu.tlimit, power.draw"
    assert "temperature_c" not in one(header, f"{NOON}, 26, 5")


@pytest.mark.parametrize(
    "line",
    [
        "2023/07/14 10:12:46.483, GPU-1, 56.12 W",
        "2023/07/14 10:12:46.483, 0, P0, 37, 1410 MHz, 56.12 W, 56.12 W",
        "2023/07/14 10:12:46.483, 0, P0, 37, 1410, 56.12, 56.12",
    ],
)
def test_a_log_without_a_header_says_what_it_lacks(line: str) -> None:
    assert nvidia_smi.recognizes(Head("any", f"{line}\n{line}\n".encode()))
    with pytest.raises(UnreadableFileError, match="without `noheader`"):
        read(line, line)


@pytest.mark.parametrize(
    "header",
    [
        "timestamp, gpu_name, gpu_bus_id, gpu_uuid, pid, used_gpu_memory [MiB]",
        "timestamp, gpu_name, gpu_uuid, pid, gpu_utilization [%], time [ms]",
        "timestamp, gpu_name, gpu_uuid, retired_pages.address, retired_pages.cause",
    ],
)
def test_other_queries_are_not_of_this_source(header: str) -> None:
    assert not nvidia_smi.recognizes(Head("any", f"{header}\n".encode()))


def test_a_ragged_line_says_what_was_expected() -> None:
    batches = read(HEADER, "Failed to initialize NVML: Unknown Error")
    (refusal,) = [one for batch in batches for one in batch.refused]
    assert "errors into the log" in str(refusal.hint)
