"""Logs of nvidia-smi: headers and cells of every kind, local time, restarted logs."""

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import UnreadableFileError
from ingest.sources import SOURCES, Head, nvidia_smi
from ingest.sources._lines import blocks
from ingest.times import parse_zone
from tests.examples import examples
from tests.ingest.readings import MARK, held, reading, records, refused, repairs
from tests.ingest.smi_logs import HEADER, NOON, one, read, samples

STAMP = "2023/07/14 10:12:46.483"
NIL = "GPU-00000000-0000-0000-0000-000000000000"


def test_a_sample() -> None:
    batches = read(HEADER, f"{STAMP}, GPU-1, 56.12 W")
    (row,) = samples(batches)
    assert row["gpu_uuid"] == "GPU-1"
    assert (row["cluster"], row["host"], row["level"]) == ("pod", None, "gpu_board")
    assert row["power_average_w"] == 56.12
    since_1970 = datetime(2023, 7, 14, 10, 12, 46, tzinfo=UTC).timestamp()
    assert row["time_ns"] == int(since_1970) * 10**9 + 483_000_000
    assert row["place"] == "line 2"
    assert records(batches) == 1


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("timestamp, power.draw [W], clocks.sm [MHz]", f"{NOON}, 56.12 W, 1410 MHz"),
        ("timestamp, power.draw [W], clocks.sm [MHz]", f"{NOON}, 56.12, 1410"),
        ("timestamp,power.draw [W],clocks.current.sm [MHz]", f"{NOON},56.12,1410"),
        ("timestamp,power.draw,clocks.sm", f"{NOON},56.12,1410"),
        ("clocks.sm, timestamp, power.draw [mW]", f"1410, {NOON}, 56120"),
        ("timestamp, power.draw [W], clocks.sm [MHz]", f"{NOON}, 56120 mW, 1410MHz"),
    ],
)
def test_units_in_header_in_cells_or_nowhere(header: str, line: str) -> None:
    row = one(header, line)
    assert row["power_average_w"] == pytest.approx(56.12, rel=1e-15)
    assert row["sm_clock_mhz"] == 1410


@pytest.mark.parametrize(
    ("field", "cell", "column", "expected"),
    [
        ("power.draw.average [W]", "69.85 W", "power_average_w", 69.85),
        ("gpu.power.draw.average [W]", "69.85 W", "power_average_w", 69.85),
        ("power.draw.instant [W]", "69.62 W", "power_instant_w", 69.62),
        ("gpu.power.draw.instant [W]", "69.62 W", "power_instant_w", 69.62),
        ("power.limit [W]", "700.00 W", "power_limit_w", 700.0),
        ("gpu.power.requested_limit [W]", "700.00 W", "power_limit_w", 700.0),
        ("enforced.power.limit [W]", "650.00 W", "power_limit_w", 650.0),
        ("gpu.power.current_limit [W]", "650.00 W", "power_limit_w", 650.0),
        ("temperature.gpu", "41", "temperature_c", 41.0),
        ("temperature.gpu", "-3", "temperature_c", -3.0),
        ("temperature.memory", "48", "memory_temperature_c", 48.0),
        ("clocks.sm [MHz]", "345 MHz", "sm_clock_mhz", 345.0),
        ("utilization.gpu [%]", "57 %", "utilization_ratio", 0.57),
        ("clocks_event_reasons.active", "0x00000000000001FF", "throttle_reasons", 511),
        ("clocks_throttle_reasons.active", "0x0000000000000004", "throttle_reasons", 4),
        ("clocks_event_reasons.active", "68", "throttle_reasons", 68),
        ("clocks_event_reasons.sw_power_cap", "Active", "throttle_reasons", 4),
        ("clocks_throttle_reasons.hw_slowdown", "Active", "throttle_reasons", 8),
        ("clocks_event_reasons.sync_boost", "Not Active", "throttle_reasons", 0),
        (
            "clocks_event_reasons_counters.sw_power_cap [us]",
            "834002687 us",
            "throttle_power_ns",
            834_002_687_000,
        ),
        (
            "clocks_event_reasons_counters.hw_thermal_slowdown [us]",
            "12",
            "throttle_thermal_ns",
            12_000,
        ),
    ],
)
def test_fields_and_their_aliases(
    field: str, cell: str, column: str, expected: float
) -> None:
    assert one(f"timestamp, {field}", f"{NOON}, {cell}")[column] == expected


def test_of_two_fields_the_better_is_taken() -> None:
    header = (
        "timestamp, power.draw, power.draw.average, power.limit, enforced.power.limit"
    )
    row = one(header, f"{NOON}, 1, 2, 3, 4")
    assert (row["power_average_w"], row["power_limit_w"]) == (2.0, 4.0)
    row = one(header, f"{NOON}, 1, [N/A], 3, [N/A]")
    assert (row["power_average_w"], row["power_limit_w"]) == (1.0, 3.0)


def test_reasons_that_hold_and_counters_that_run_are_added() -> None:
    prefix = "clocks_event_reasons"
    header = (
        f"timestamp, {prefix}.sw_power_cap, {prefix}.hw_slowdown, {prefix}.gpu_idle,"
        f"{prefix}_counters.sw_power_cap [us],"
        f"{prefix}_counters.hw_power_brake_slowdown [us]"
    )
    row = one(header, f"{NOON}, Active, Active, [N/A], 5 us, 7 us")
    assert row["throttle_reasons"] == 0x4 | 0x8
    assert row["throttle_power_ns"] == 12_000
    row = one(header, f"{NOON}, [N/A], [N/A], [N/A], [N/A], [N/A]")
    assert (row["throttle_reasons"], row["throttle_power_ns"]) == (None, None)


@pytest.mark.parametrize(
    "cell",
    [
        "[N/A]",
        "N/A",
        "",
        "[Not Supported]",
        "[Unknown Error]",
        "[Requested functionality has been deprecated]",
        "ERR!",
        "[GPU requires reset]",
    ],
)
@pytest.mark.parametrize(
    ("field", "column"),
    [
        ("power.draw [W]", "power_average_w"),
        ("clocks_event_reasons.active", "throttle_reasons"),
        ("clocks_event_reasons_counters.sw_power_cap [us]", "throttle_power_ns"),
    ],
)
def test_what_is_no_value_is_null(cell: str, field: str, column: str) -> None:
    assert one(f"timestamp, {field}, index", f"{NOON}, {cell}, 0")[column] is None


@pytest.mark.parametrize(
    ("field", "column"),
    [
        ("power.draw [W]", "power_average_w"),
        ("clocks_event_reasons.active", "throttle_reasons"),
        ("clocks_event_reasons.gpu_idle", "throttle_reasons"),
        ("clocks_event_reasons_counters.sw_power_cap [us]", "throttle_power_ns"),
    ],
)
@pytest.mark.parametrize(
    "cell", ["12x", "5 kW", "0xFFFFFFFFFFFFFFFF", "1e3", "Perhaps"]
)
def test_what_is_neither_is_refused(field: str, column: str, cell: str) -> None:
    assert refused(read(f"timestamp, {field}", f"{NOON}, {cell}")) == [
        ("line 2", f"{column}|value")
    ]


@pytest.mark.parametrize(
    ("fields", "cells", "expected"),
    [
        ("uuid, pci.bus_id, index", "GPU-1, 00000000:5D:00.0, 3", "GPU-1"),
        (
            "uuid, pci.bus_id, index",
            "[N/A], 00000000:5D:00.0, 3",
            "pci:0000:5d:00 of log.csv ffffffff",
        ),
        (
            "uuid, pci.bus_id",
            f"{NIL}, 00000000:5D:00.0",
            "pci:0000:5d:00 of log.csv ffffffff",
        ),
        ("uuid, index", f"{NIL}, 3", "index:3 of log.csv ffffffff"),
        ("uuid", NIL, "file:log.csv ffffffff"),
        (
            "gpu_bus_id, index",
            "0000000A:5D:00.0, 3",
            "pci:000a:5d:00 of log.csv ffffffff",
        ),
        ("index", "3", "index:3 of log.csv ffffffff"),
        ("name", "NVIDIA H100", "file:log.csv ffffffff"),
    ],
)
def test_the_best_identity_of_a_gpu(fields: str, cells: str, expected: str) -> None:
    told = reading(name="log.csv")
    row = one(f"timestamp, {fields}, power.draw", f"{NOON}, {cells}, 5", told)
    assert row["gpu_uuid"] == expected


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("node-07.smi.csv", "node-07"),
        ("smi-node-07.csv", "node-07"),
        ("nvidia-smi_gpu1.pod.log", "gpu1.pod"),
        ("nvidia-smi.csv", None),
        ("smi-20230714.csv", None),
        ("gpudata.csv", None),
    ],
)
def test_the_host_is_in_the_name_of_the_file(name: str, host: str | None) -> None:
    row = one(HEADER, f"{NOON}, GPU-1, 5", reading(name=name))
    assert row["host"] == host


NOON_NS = int(datetime(2023, 7, 14, 12, tzinfo=UTC).timestamp()) * 10**9
HOUR_NS = 3_600 * 10**9


@pytest.mark.parametrize(
    ("zone", "basis", "before_ns", "quality"),
    [
        ("UTC", "assumed", 0, "zone_assumed"),
        ("UTC", "option", 0, "exact"),
        ("+01:00", "run_card", HOUR_NS, "exact"),
        ("Europe/Berlin", "option", 2 * HOUR_NS, "exact"),
    ],
)
def test_the_zone_of_the_run(
    zone: str, basis: str, before_ns: int, quality: str
) -> None:
    told = reading(zone=parse_zone(zone), zone_basis=basis)
    batches = read(HEADER, f"{NOON}, GPU-1, 5", told=told)
    (row,) = samples(batches)
    assert row["time_ns"] == NOON_NS - before_ns
    assert row["time_quality"] == quality
    assert any(batch.zone_used for batch in batches)


@pytest.mark.parametrize(
    "stamp",
    ["2023-07-14 12:00:00", "2023-07-14T12:00:00.000", "2023/07/14 12:00:00.000000"],
)
def test_other_spellings_of_a_time(stamp: str) -> None:
    assert one(HEADER, f"{stamp}, GPU-1, 5")["time_ns"] == NOON_NS


@pytest.mark.parametrize(
    "stamp",
    [
        "",
        "[N/A]",
        "2023/02/30 12:00:00",
        "12:00:00",
        "9999/01/01 00:00:00",
        "1689336000",
    ],
)
def test_what_is_no_time_is_refused(stamp: str) -> None:
    batches = read(HEADER, f"{stamp}, GPU-1, 5")
    assert refused(batches) == [("line 2", "time_ns|value")]


def test_an_hour_that_the_zone_skips_is_refused() -> None:
    told = reading(zone=parse_zone("Europe/Berlin"), zone_basis="option")
    batches = read(HEADER, "2023/03/26 02:30:00.000, GPU-1, 5", told=told)
    assert refused(batches) == [("line 2", "time_ns|value")]


def test_a_log_that_was_started_again() -> None:
    batches = read(
        "Failed to initialize NVML: Driver/library version mismatch",
        HEADER,
        f"{NOON}, GPU-1, 1",
        HEADER,
        f"{NOON}, GPU-1, 2",
        "timestamp, power.draw [W], uuid, index",
        f"{NOON}, 3, GPU-1, 0",
        "No devices were found",
        "timestamp, power.draw [W], uuid, index",
        f"{NOON}, 4, GPU-1, 0",
    )
    found = samples(batches)
    assert [row["power_average_w"] for row in found] == [1.0, 2.0, 3.0, 4.0]
    assert {row["gpu_uuid"] for row in found} == {"GPU-1"}
    assert refused(batches) == [("line 1", "before_header"), ("line 8", "cell_count")]
    assert records(batches) == 6


def test_damaged_lines_are_refused_alone() -> None:
    data = (
        b"\xef\xbb\xbf" + HEADER.encode() + b"\r\n"
        b"2023/07/14 12:00:00.000, GPU-1, 1 W\r\n\r\n"
        b"2023/07/14 12:00:00.000, GPU-1\n"
        b"2023/07/14 12:00:00.000, GPU-1, a, b\n"
        b"2023/07/14 12:00:00.000, \xff, 1 W\n"
        b"2023/07/14 12:00:00.000, GPU-1, 2 W\0\0\n"
        b"2023/07/14 12:00:00.000, GPU-1, 3"
    )
    batches = held(nvidia_smi.read(io.BytesIO(data), reading()))
    assert [row["power_average_w"] for row in samples(batches)] == [1.0, 1.0, 2.0]
    assert refused(batches) == [
        ("line 4", "cell_count"),
        ("line 5", "cell_count"),
        ("line 8", "truncated_line"),
    ]
    assert (records(batches), repairs(batches)) == (6, 2)


def test_a_log_without_a_header_is_unreadable() -> None:
    with pytest.raises(UnreadableFileError, match="a header with 'timestamp'"):
        read(f"{NOON}, GPU-1, 5")


def test_blocks_of_any_size_give_the_same_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [HEADER, *(f"{NOON}, GPU-1, {n}" for n in range(20)), HEADER]
    whole = read(*lines)
    monkeypatch.setattr(nvidia_smi, "blocks", partial(blocks, size=100))
    pieces = read(*lines)
    assert len(pieces) > len(whole)
    assert samples(pieces) == samples(whole)


#: Where a public log lies that was taken beside an external meter.
A100 = "data/power/JimZeyuYang+GPU_Power_Benchmark/plotting/data/5050/A100"


def test_energy_of_the_a100_log(shared: Path) -> None:
    """Reference: 1,024.87 J from this log, 1,024.72 J by the meter."""
    folder = shared / A100
    told = reading(name="gpudata.csv", zone=parse_zone("+01:00"), zone_basis="option")
    with (folder / "gpudata.csv").open("rb") as stream:
        batches = held(nvidia_smi.read(stream, told))
    power = [(row["time_ns"], row["power_average_w"]) for row in samples(batches)]
    stamps = (folder / "timestamps.csv").read_text().split()[1:]
    start, end = (int(stamps[index]) * 1_000 for index in (0, -1))
    assert records(batches) == len(power) == 965
    assert energy_j(power, start, end) == pytest.approx(1_024.87, rel=1e-3)


def energy_j(power: list[tuple[int, float]], start: int, end: int) -> float:
    """Integrate by trapezoids between two times. [ns], [J]"""
    inside = [(time, watts) for time, watts in power if start < time < end]
    points = [(start, at(power, start)), *inside, (end, at(power, end))]
    pairs = pairwise(points)
    return sum((t1 - t0) * (w0 + w1) / 2e9 for (t0, w0), (t1, w1) in pairs)


def at(power: list[tuple[int, float]], time: int) -> float:
    for (t0, w0), (t1, w1) in pairwise(power):
        if t0 <= time <= t1:
            return w0 + (w1 - w0) * (time - t0) / (t1 - t0)
    raise AssertionError(time)


CAPTURES = "data/power/utkuozdemir+nvidia_gpu_exporter/internal/captures"


def sections(path: Path) -> Iterator[str]:
    """Yield the CSV sections of a capture, idle and under load."""
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines):
        if line.startswith(("# idle :: query-gpu (csv", "# load :: query-gpu (csv")):
            body = lines[number + 3 :]
            yield "\n".join(body[: body.index("")]) + "\n"


def test_captures_of_drivers_590_to_610(shared: Path) -> None:
    found = 0
    for path in sorted((shared / CAPTURES).glob("*.txt")):
        for text in sections(path):
            found += 1
            names, cells = csv.reader(io.StringIO(text), skipinitialspace=True)
            cell = dict(zip(names, cells, strict=True))
            assert nvidia_smi.recognizes(Head(path.name, text.encode()))
            batches = held(nvidia_smi.read(io.BytesIO(text.encode()), reading()))
            (row,) = samples(batches)
            assert refused(batches) == []
            place = f"0000:{cell['pci.bus_id'][9:14].lower()}"
            assert (cell["uuid"], row["gpu_uuid"]) == (NIL, f"pci:{place} of {MARK}")
            draw = float(cell["power.draw [W]"].removesuffix(" W"))
            assert row["power_average_w"] == draw
            assert row["sm_clock_mhz"] == number_of(cell["clocks.current.sm [MHz]"])
            assert row["temperature_c"] == number_of(cell["temperature.gpu"])
            memory = cell["temperature.memory"]
            expected = None if memory == "N/A" else number_of(memory)
            assert row["memory_temperature_c"] == expected
            mask = cell["clocks_event_reasons.active"]
            assert row["throttle_reasons"] == int(mask, 16)
            capped = cell["clocks_event_reasons_counters.sw_power_cap [us]"]
            assert row["throttle_power_ns"] == 1_000 * number_of(capped)
            busy = cell["utilization.gpu [%]"]
            ratio = None if busy == "[N/A]" else number_of(busy) / 100
            assert row["utilization_ratio"] == ratio
    assert found == 10


def number_of(cell: str) -> int:
    return int(cell.split(maxsplit=1)[0])


def test_logs_are_known_by_their_header(shared: Path) -> None:
    head = Head("any", (shared / A100 / "gpudata.csv").read_bytes()[:65_536])
    claims = [source.name for source in SOURCES if source.recognizes(head)]
    assert claims == ["nvidia-smi"]
    for name in ("timestamps.csv", "PMD_start_ts.txt"):
        head = Head(name, (shared / A100 / name).read_bytes())
        assert not any(source.recognizes(head) for source in SOURCES)
    assert not nvidia_smi.recognizes(Head("any", b"timestamp,value\n1,2\n"))


def values(header: str, lines: Iterable[str], column: str) -> list[Any]:
    found = samples(read(header, *(f"{NOON}, {line}" for line in lines)))
    return [row[column] for row in found]


WATTS = st.tuples(
    st.floats(0, 10_000, allow_subnormal=False).map(lambda watts: round(watts, 2)),
    st.sampled_from(["", " ", "  "]),
    st.sampled_from(["", "W", " W"]),
)


@settings(deadline=None, max_examples=examples(30))
@given(st.lists(WATTS, min_size=1))
def test_a_number_is_read_as_written(cells: list[tuple[float, str, str]]) -> None:
    lines = [f"GPU-1,{blank}{watts:.2f}{unit}{blank}" for watts, blank, unit in cells]
    found = values(HEADER, lines, "power_average_w")
    assert found == [watts for watts, _, _ in cells]


@settings(deadline=None, max_examples=examples(30))
@given(st.lists(st.integers(0, 2**63 - 1), min_size=1))
def test_a_mask_is_read_as_written(masks: list[int]) -> None:
    lines = [f"0x{mask:016X}" for mask in masks]
    header = "timestamp, clocks_event_reasons.active"
    assert values(header, lines, "throttle_reasons") == masks


@settings(deadline=None, max_examples=examples(30))
@given(st.lists(st.integers(0, 2**61 // 1_000), min_size=1))
def test_a_counter_is_exact(counts: list[int]) -> None:
    header = "timestamp, clocks_event_reasons_counters.sw_power_cap [us]"
    found = values(header, (f"{count} us" for count in counts), "throttle_power_ns")
    assert found == [count * 1_000 for count in counts]


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_stop_the_reader(data: bytes) -> None:
    content = f"{HEADER}\n".encode() + data
    batches = held(nvidia_smi.read(io.BytesIO(content), reading()))
    assert records(batches) == len(samples(batches)) + len(refused(batches))
