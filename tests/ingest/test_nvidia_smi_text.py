"""Text of nvidia-smi -q: keys of several ages, many looks, other text around."""

import io
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ingest.sources import Batch, Head, nvidia_smi_text
from ingest.sources._lines_frames import line_frames
from ingest.tables import PowerSamples
from tests.ingest.readings import MARK, held, reading, records, refused, rows

LOG = "==============NVSMI LOG=============="
STAMP = "Timestamp                     : Tue Jul 14 08:12:53 2026"
GPU = "GPU 00000000:5D:00.0"
NOON_NS = int(datetime(2026, 7, 14, 8, 12, 53, tzinfo=UTC).timestamp()) * 10**9


def read(*lines: str, end: str = "\n") -> list[Batch]:
    text = "\n".join(lines) + end
    return held(nvidia_smi_text.read(io.BytesIO(text.encode()), reading()))


def samples(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    return rows(batches, PowerSamples)


def power(*pairs: str) -> list[str]:
    return ["    GPU Power Readings", *(f"        {pair}" for pair in pairs)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            [
                "    Power Readings",
                "        Power Draw           : 25.58 W",
                "        Power Limit          : 300.00 W",
                "        Enforced Power Limit : 250.00 W",
            ],
            (25.58, None, 250.0),
        ),
        (
            power("Power Draw : 22.78 W", "Current Power Limit : 336.00 W"),
            (22.78, None, 336.0),
        ),
        (
            [
                *power(
                    "Average Power Draw : 629.45 W",
                    "Instantaneous Power Draw : 588.39 W",
                    "Current Power Limit : N/A",
                    "Requested Power Limit : 700.00 W",
                ),
                "    GPU Memory Power Readings ",
                "        Average Power Draw : 85.83 W",
                "    Power Samples",
                "        Avg : 12.0 W",
            ],
            (629.45, 588.39, 700.0),
        ),
        (
            power(
                "Average Power Draw : N/A",
                "Instantaneous Power Draw : 38.89 W",
                "GPU Ceiling Power Limit",
                "    Current Power Limit : 250.00 W",
                "    Requested Power Limit : 260.00 W",
                "GPU Base Power",
                "    Current Base Power : 90.00 W",
                "Max Power Limit : 350.00 W",
            ),
            (None, 38.89, 250.0),
        ),
    ],
    ids=["v11", "v12", "v13", "610"],
)
def test_the_ages_of_power(
    lines: list[str], expected: tuple[float | None, float | None, float]
) -> None:
    (row,) = samples(read(LOG, STAMP, GPU, *lines))
    found = (row["power_average_w"], row["power_instant_w"], row["power_limit_w"])
    assert found == expected
    assert (row["gpu_uuid"], row["time_ns"]) == (f"pci:0000:5d:00 of {MARK}", NOON_NS)
    assert row["time_quality"] == "zone_assumed"


def test_only_what_is_meant_is_taken() -> None:
    (row,) = samples(
        read(
            LOG,
            STAMP,
            GPU,
            "    GPU UUID                  : GPU-1",
            "    Inforom BBX Object Flush",
            "        Latest Timestamp      : N/A",
            "    Clocks Throttle Reasons",
            "        Idle                  : Not Active",
            "        HW Slowdown           : Active",
            "            HW Thermal Slowdown : Active",
            "    Clocks Event Reasons Counters",
            "        SW Power Capping      : 5 us",
            "        HW Power Braking      : 7 us",
            "    Utilization",
            "        Gpu                   : 57 %",
            "    Temperature",
            "        GPU Current Temp      : 59 C",
            "        GPU T.Limit Temp      : 26 C",
            "        Memory Current Temp   : N/A",
            "    Clocks",
            "        SM                    : 345 MHz",
            "    Max Clocks",
            "        SM                    : 1980 MHz",
            "    Processes",
            "        Name                  : SM : 9",
        )
    )
    assert row["gpu_uuid"] == "GPU-1"
    assert row["throttle_reasons"] == 0x8 | 0x40
    assert row["throttle_power_ns"] == 12_000
    assert (row["utilization_ratio"], row["temperature_c"]) == (0.57, 59.0)
    assert (row["memory_temperature_c"], row["sm_clock_mhz"]) == (None, 345.0)


@pytest.mark.parametrize("size", [50, 1 << 20])
def test_looks_follow_each_other(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia_smi_text, "line_frames", partial(line_frames, size=size))
    lines: list[str] = []
    for second in (53, 54):
        lines += [LOG, "", STAMP.replace(":53 ", f":{second} "), "Attached GPUs : 2"]
        for gpu in (0, 1):
            draw = f"Average Power Draw : {second + gpu} W"
            lines += [GPU.replace("5D", f"{gpu:02d}"), *power(draw)]
    batches = read(*lines)
    found = samples(batches)
    assert [row["power_average_w"] for row in found] == [53.0, 54.0, 54.0, 55.0]
    assert [row["time_ns"] - NOON_NS for row in found] == [0, 0, 10**9, 10**9]
    assert {row["gpu_uuid"].split()[0] for row in found} == {
        "pci:0000:00:00",
        "pci:0000:01:00",
    }
    assert (records(batches), refused(batches)) == (4, [])


def test_a_look_at_something_else_makes_no_row() -> None:
    batches = read(LOG, STAMP, GPU, "    FB Memory Usage", "        Total : 81559 MiB")
    assert (samples(batches), refused(batches), records(batches)) == ([], [], 1)


def test_the_last_gpu_may_be_cut_short() -> None:
    batches = read(LOG, STAMP, GPU, *power("Average Power Draw : 629.4"), end="")
    assert refused(batches) == [("line 3", "truncated_line")]


def test_a_look_without_a_time_is_refused() -> None:
    batches = read(LOG, GPU, *power("Average Power Draw : 629.4 W"))
    assert refused(batches) == [("line 2", "time_ns|value")]


CAPTURES = "data/power/utkuozdemir+nvidia_gpu_exporter/internal/captures"


def test_captures_of_drivers_590_to_610(shared: Path) -> None:
    found = {}
    for path in sorted((shared / CAPTURES).glob("*.txt")):
        data = path.read_bytes()
        assert nvidia_smi_text.recognizes(Head(path.name, data[:65_536]))
        batches = held(nvidia_smi_text.read(io.BytesIO(data), reading()))
        assert refused(batches) == []
        found[path.name] = samples(batches)
    assert [len(looks) for looks in found.values()] == [2] * 5
    (name,) = [name for name in found if "h100-80gb" in name]
    _, load = found[name]
    assert (load["power_average_w"], load["power_instant_w"]) == (629.45, 588.39)
    assert (load["temperature_c"], load["memory_temperature_c"]) == (59.0, 55.0)
    assert load["time_ns"] == NOON_NS
    (name,) = [name for name in found if "h200-mig" in name]
    assert [row["utilization_ratio"] for row in found[name]] == [None, None]
    assert [row["power_average_w"] for row in found[name]] == [78.28, 294.94]
    assert all(row["power_limit_w"] for looks in found.values() for row in looks)
    limits = [
        looks[0]["power_limit_w"] for name, looks in found.items() if "610" in name
    ]
    assert limits == [250.0, 250.0]
    gpus = {row["gpu_uuid"] for looks in found.values() for row in looks}
    assert gpus == {
        f"pci:0000:{place} of {MARK}" for place in ("0c:00", "00:09", "83:00", "01:00")
    }
