"""Text of the dcgm-exporter: names, blanks, repeated series, times, damaged lines."""

import io
import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import SOURCES, Batch, Head, Reading, dcgm_exporter
from ingest.sources._lines import blocks
from ingest.sources._prometheus import gather
from ingest.sources._prometheus import text as text_reader
from ingest.sources._prometheus.gpu_names import GPU_FIELDS
from ingest.tables import PowerSamples
from tests.examples import examples
from tests.ingest.readings import MARK, held, reading, records, refused, repairs, rows

#: When the file was written. [ns]
WRITTEN_NS = 1_700_000_000_123_456_789

#: A time stamp, as Prometheus writes it. [ms]
STAMP = 1_707_844_800_123

POWER = "DCGM_FI_DEV_POWER_USAGE"


def series(metric: str = POWER, gpu: str = "GPU-1", **labels: str) -> str:
    named = {"gpu": "0", "UUID": gpu, "Hostname": "node-1"} | labels
    texts = ",".join(f'{name}="{value}"' for name, value in named.items())
    return f"{metric}{{{texts}}}"


def read(*lines: str, told: Reading | None = None) -> list[Batch]:
    text = "".join(f"{line}\n" for line in lines)
    return of(text.encode(), told)


def of(data: bytes, told: Reading | None = None) -> list[Batch]:
    known = told or reading(modified_ns=WRITTEN_NS)
    return held(dcgm_exporter.read(io.BytesIO(data), known))


def samples(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    return rows(batches, PowerSamples)


def one(*lines: str) -> dict[str, Any]:
    (row,) = samples(read(*lines))
    return row


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ('gpu="0",pci_bus_id="00000000:5D:00.0"', "pci:0000:5d:00"),
        ('gpu="3"', "index:3"),
        ('job="dcgm"', "file:dcgm.prom"),
    ],
)
def test_a_masked_uuid_names_no_gpu(label: str, expected: str) -> None:
    nil = series(gpu="GPU-00000000-0000-0000-0000-000000000000")
    told = reading(modified_ns=WRITTEN_NS, name="dcgm.prom")
    (row,) = samples(read(f"{nil} 5".replace('gpu="0"', label), told=told))
    assert (row["gpu_uuid"], row["host"]) == (expected, "node-1")


def test_a_scrape_has_the_time_of_its_file() -> None:
    batches = read(
        f"# HELP {POWER} Power draw (in W).",
        f"# TYPE {POWER} gauge",
        f"{series()} 113.611000",
        f"{series('DCGM_FI_DEV_GPU_TEMP')} 30",
        f"{series(gpu='GPU-2')} 68.347000",
    )
    first, second = samples(batches)
    assert (first["gpu_uuid"], second["gpu_uuid"]) == ("GPU-1", "GPU-2")
    assert (first["host"], first["cluster"]) == ("node-1", "pod")
    assert (first["power_average_w"], first["temperature_c"]) == (113.611, 30.0)
    assert (second["power_average_w"], second["temperature_c"]) == (68.347, None)
    assert {row["time_ns"] for row in (first, second)} == {WRITTEN_NS}
    assert {row["time_quality"] for row in (first, second)} == {"file_time"}
    assert first["place"] == "line 3"
    assert records(batches) == 3


@pytest.mark.parametrize(
    ("metric", "value", "column", "expected"),
    [
        ("DCGM_FI_DEV_BOARD_POWER_WATTS", "113.611000", "power_average_w", 113.611),
        ("dcgm_power_usage", "113.611000", "power_average_w", 113.611),
        ("DCGM_FI_DEV_POWER_USAGE_INSTANT", "99.5", "power_instant_w", 99.5),
        ("DCGM_FI_DEV_BOARD_POWER_RAW_WATTS", "99.5", "power_instant_w", 99.5),
        ("DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "700.000000", "power_limit_w", 700.0),
        ("DCGM_FI_DEV_POWER_MGMT_LIMIT", "700.000000", "power_limit_w", 700.0),
        ("dcgm_gpu_temp", "41", "temperature_c", 41.0),
        ("DCGM_FI_DEV_GPU_TEMP_CELSIUS", "41", "temperature_c", 41.0),
        ("DCGM_FI_DEV_MEMORY_TEMP", "48", "memory_temperature_c", 48.0),
        ("dcgm_sm_clock", "1980", "sm_clock_mhz", 1980.0),
        ("DCGM_FI_DEV_GPU_UTIL", "57", "utilization_ratio", 0.57),
        ("dcgm_gpu_utilization", "57.0", "utilization_ratio", 0.57),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", "57", "utilization_ratio", 0.57),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", "0.570000", "utilization_ratio", 0.57),
        ("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "68", "throttle_reasons", 68),
        ("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "4", "throttle_reasons", 4),
        ("DCGM_FI_DEV_POWER_VIOLATION", "8340026870", "throttle_power_ns", 8340026870),
        ("DCGM_FI_DEV_THERMAL_VIOLATION", "12", "throttle_thermal_ns", 12),
        (
            "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
            "9007199254740993",
            "energy_mj",
            9_007_199_254_740_993,
        ),
        (
            "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION_total",
            "9007199254740993",
            "energy_mj",
            9_007_199_254_740_993,
        ),
        ("dcgm_total_energy_consumption", "8.742e+06", "energy_mj", 8_742_000),
        ("DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL", "8742", "energy_mj", 8_742_000),
    ],
)
def test_names_of_every_age(
    metric: str, value: str, column: str, expected: float
) -> None:
    assert one(f"{series(metric)} {value}")[column] == expected


def test_of_two_fields_the_better_is_taken_and_parts_are_added() -> None:
    prefix = "DCGM_FI_DEV_CLOCKS_EVENT_REASON"
    row = one(
        f"{series('DCGM_FI_DEV_POWER_MGMT_LIMIT')} 700",
        f"{series('DCGM_FI_DEV_ENFORCED_POWER_LIMIT')} 650",
        f"{series('DCGM_FI_DEV_POWER_VIOLATION')} 10",
        f"{series(f'{prefix}_SW_POWER_CAP_NS')} 7",
        f"{series(f'{prefix}_SW_THERM_SLOWDOWN_NS')} 5",
        f"{series(f'{prefix}_HW_THERM_SLOWDOWN_NS')} 6",
    )
    assert row["power_limit_w"] == 650
    assert (row["throttle_power_ns"], row["throttle_thermal_ns"]) == (10, 11)


@pytest.mark.parametrize(
    "blank",
    [
        "9223372036854775792",
        "9223372036854775794",
        "9.223372036854775807e+18",
        "NaN",
        "+Inf",
    ],
)
def test_blanks_are_null(blank: str) -> None:
    lines = [f"{series(metric, gpu=metric)} {blank}" for metric in GPU_FIELDS]
    batches = read(*lines)
    found = {row["gpu_uuid"]: row for row in samples(batches)}
    assert found.keys() == GPU_FIELDS.keys()
    for metric, field in GPU_FIELDS.items():
        assert found[metric][field.column] is None
    assert refused(batches) == []


@pytest.mark.parametrize(
    "blank", ["2147483632", "2147483634", "140737488355328.000000"]
)
@pytest.mark.parametrize("metric", [POWER, "DCGM_FI_DEV_SM_CLOCK", "dcgm_gpu_temp"])
def test_smaller_blanks_are_null_where_no_value_is_so_large(
    metric: str, blank: str
) -> None:
    assert one(f"{series(metric)} {blank}")[GPU_FIELDS[metric].column] is None
    energy = "dcgm_total_energy_consumption"
    assert one(f"{series(energy)} {blank}")["energy_mj"] == int(float(blank))


@pytest.mark.parametrize(
    ("labels", "host", "gpu"),
    [
        ('UUID="GPU-1",Hostname="a"', "a", "GPU-1"),
        ('uuid="GPU-1",hostname="a"', "a", "GPU-1"),
        ('gpu_uuid="GPU-1",model_name="x"', None, "GPU-1"),
        ('gpu="3",pci_bus_id="00000000:5D:00.0"', None, f"pci:0000:5d:00 of {MARK}"),
        ('gpu="3",pci_bus_id=""', None, f"index:3 of {MARK}"),
    ],
)
def test_labels_that_name_a_gpu(labels: str, host: str | None, gpu: str) -> None:
    row = one(f"{POWER}{{{labels}}} 5")
    assert (row["host"], row["gpu_uuid"]) == (host, gpu)


def test_a_gpu_in_several_series_is_one_row() -> None:
    """Power of a whole A800 with three MIG instances: 78.446 W, not 235 W."""
    batches = read(
        f"{series(GPU_I_ID='3')} 78.174",
        f"{series(GPU_I_ID='4')} 78.174",
        f"{series(GPU_I_ID='5', pod='x')} 78.446",
        f"{series('DCGM_FI_DEV_SM_CLOCK', GPU_I_ID='3')} 1410",
    )
    (row,) = samples(batches)
    assert (row["power_average_w"], row["sm_clock_mhz"]) == (78.446, 1410)
    assert (records(batches), repairs(batches)) == (4, 1)


def test_scrapes_with_time_stamps() -> None:
    batches = read(
        *(
            f"{series(metric)} {value} {STAMP + 30_000 * n}"
            for n in range(3)
            for metric, value in ((POWER, 100.5 + n), ("dcgm_gpu_temp", 40 + n))
        )
    )
    found = samples(batches)
    assert [row["time_ns"] for row in found] == [
        (STAMP + 30_000 * n) * 1_000_000 for n in range(3)
    ]
    assert [row["power_average_w"] for row in found] == [100.5, 101.5, 102.5]
    assert [row["temperature_c"] for row in found] == [40, 41, 42]
    assert {row["time_quality"] for row in found} == {"exact"}


def test_time_stamps_in_seconds() -> None:
    row = one(f"{series()} 5 1707844800.123")
    assert row["time_ns"] == STAMP * 1_000_000


@pytest.mark.parametrize("stamp", ["0", "-5", "NaN", "+Inf", "1e30"])
def test_what_is_no_time_is_refused(stamp: str) -> None:
    assert refused(read(f"{series()} 5 {stamp}")) == [("line 1", "time_ns|value")]


def test_blanks_may_repeat_without_a_time() -> None:
    batches = read(f"{series()} NaN", f"{series()} NaN", f"{series()} 100")
    assert samples(batches)[0]["power_average_w"] == 100
    assert refused(batches) == []


def test_a_second_scrape_without_a_time_is_refused() -> None:
    batches = read(
        f"{series()} 100",
        f"{series('dcgm_gpu_temp')} 40",
        f"{series()} 200",
        f"{series('dcgm_gpu_temp')} 40",
    )
    (row,) = samples(batches)
    assert (row["power_average_w"], row["temperature_c"]) == (100, 40)
    assert refused(batches) == [("line 3", "time_ns|required")]


def test_a_line_that_is_broken_costs_itself_only() -> None:
    data = "\n".join(
        (
            f"{series()} 100\r",
            "",
            f"{series('DCGM_FI_DEV_SM_CLOCK')} N/A",
            f"{series('DCGM_FI_DEV_REQUESTED_POWER_PROFILE_MASK')} <Mask 0x1>",
            f"{series('DCGM_FI_DEV_XID_ERRORS', err_msg='a } b')} 43",
            f'{POWER}{{UUID="a",UUID="b"}} 1',
            f'{POWER}{{UUID="a"b"}} 1',
            f'{POWER}{{other="x"}} 1',
            f"{POWER} 1",
            f"{series('dcgm_gpu_temp')} 40 {STAMP} 7",
            f"{series('dcgm_total_energy_consumption')} 12.5",
            f"{series('dcgm_total_energy_consumption')} -3",
            f"{series('dcgm_gpu_temp')} -1e300",
            "curl: (7) Failed to connect",
            "go_goroutines 12",
            "",
        )
    )
    batches = of(b"\xef\xbb\xbf" + data.encode() + b"dcgm_\xff 5\n" + b"go_threads 1")
    assert [row["power_average_w"] for row in samples(batches)] == [100]
    assert refused(batches) == [
        ("line 3", "value|number"),
        ("line 4", "value|number"),
        ("line 6", "labels"),
        ("line 7", "labels"),
        ("line 8", "gpu_uuid|required"),
        ("line 9", "gpu_uuid|required"),
        ("line 10", "value|number"),
        ("line 11", "energy_mj|value"),
        ("line 12", "energy_mj|value"),
        ("line 13", "temperature_c|value"),
        ("line 14", "value|number"),
        ("line 17", "truncated_line"),
    ]
    assert records(batches) == 16


def test_rows_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        f"{series(metric, gpu=f'GPU-{g}')} {100 + n + g} {STAMP + n}"
        for n in range(50)
        for metric in (POWER, "dcgm_sm_clock")
        for g in range(2)
    ]
    whole = read(*lines)
    monkeypatch.setattr(gather, "HELD_SAMPLES", 6)
    monkeypatch.setattr(text_reader, "blocks", partial(blocks, size=300))
    pieces = read(*lines)
    assert max(frame.height for b in pieces for frame in b.rows.values()) <= 6
    assert samples(pieces) == samples(whole)
    assert len(samples(pieces)) == 100


REAL = "data/power/NVIDIA+aicr/dcgm_exporter_h100x8.prom"


def by_gpu(text: str, metric: str) -> dict[str, str]:
    lines = re.findall(rf'^{metric}\{{.*UUID="([^"]+)".*\}} (\S+)$', text, re.MULTILINE)
    return dict(lines)


def test_a_real_scrape_of_eight_gpus(shared: Path) -> None:
    text = (shared / REAL).read_text()
    power, heat = by_gpu(text, POWER), by_gpu(text, "DCGM_FI_DEV_GPU_TEMP")
    batches = of(text.encode())
    found = {row["gpu_uuid"]: row for row in samples(batches)}
    assert len(power) == len(heat) == len(found) == 8
    for gpu, row in found.items():
        assert row["power_average_w"] == float(power[gpu])
        assert row["temperature_c"] == float(heat[gpu])
        assert (row["host"], row["utilization_ratio"]) == ("gpu-node-1", 0)
    assert refused(batches) == []
    assert records(batches) == 30


def test_scrapes_are_known_by_their_series(shared: Path) -> None:
    head = Head("metrics", (shared / REAL).read_bytes()[:65_536])
    assert [s.name for s in SOURCES if s.recognizes(head)] == ["dcgm-exporter"]
    listing = (shared / "data/power/NVIDIA+dcgm-exporter/etc").glob("*.csv")
    for path in listing:
        assert not dcgm_exporter.recognizes(Head(path.name, path.read_bytes()))


@settings(deadline=None, max_examples=examples(30))
@given(st.lists(st.integers(0, 2**63 - 17), min_size=1))
def test_energy_is_exact(energies: list[int]) -> None:
    metric = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
    lines = [f"{series(metric, gpu=f'GPU-{n}')} {e}" for n, e in enumerate(energies)]
    assert [row["energy_mj"] for row in samples(read(*lines))] == energies


METRICS = st.sampled_from([POWER, "dcgm_total_energy_consumption", "go_info"])
VALUES = st.one_of(
    st.integers().map(str), st.floats().map(str), st.sampled_from(["N/A", "", "1 2 3"])
)


@settings(deadline=None)
@given(st.lists(st.tuples(METRICS, VALUES, st.integers(0, 2), st.booleans())))
def test_any_values_give_sound_rows(
    written: list[tuple[str, str, int, bool]],
) -> None:
    lines = [
        f"{series(metric, gpu=f'GPU-{gpu}')} {value} {STAMP if timed else ''}"
        for metric, value, gpu, timed in written
    ]
    told = reading(modified_ns=WRITTEN_NS)
    content = "".join(f"{line}\n" for line in lines).encode()
    batches = list(dcgm_exporter.read(io.BytesIO(content), told))
    keys = [(row["gpu_uuid"], row["time_ns"]) for row in samples(batches)]
    assert len(keys) == len(set(keys)) <= 6
    assert records(batches) == len(lines)


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_stop_the_reader(data: bytes) -> None:
    batches = of(f"{series()} 100\n".encode() + data)
    assert len(samples(batches)) == 1


@settings(deadline=None)
@given(st.text(st.sampled_from('{}"=, \\UID#a1')))
def test_no_labels_stop_the_reader(text: str) -> None:
    of(f"{POWER}{{{text}}} 5\n".encode())
