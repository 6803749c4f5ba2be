"""Text of exporters: nvidia-smi metrics, OpenMetrics, order, real and damaged text."""

import io
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import SOURCES, Batch, Head, prometheus_text
from ingest.sources._lines import blocks
from ingest.sources._prometheus import gather
from ingest.sources._prometheus import text as text_reader
from ingest.tables import LinkSamples, PowerSamples
from tests.examples import examples
from tests.ingest.readings import held, reading, records, refused, rows

#: When the file was written. [ns]
WRITTEN_NS = 1_764_408_600_123_456_789

#: A time stamp, as Prometheus writes it. [ms]
STAMP = 1_764_408_600_217

SAMPLE = (
    Path(__file__).resolve().parents[2]
    / "sample_traces/formats/prometheus-text/ember-07.metrics"
)

UNAME = 'node_uname_info{nodename="ember-07",release="6.8.0"} 1'
IB = "node_infiniband_"
UUID = "b7c5e6a0-1111-2222-3333-444455556666"


def of(data: bytes, name: str = "any") -> list[Batch]:
    told = reading(modified_ns=WRITTEN_NS, name=name)
    return held(prometheus_text.read(io.BytesIO(data), told))


def read(*lines: str, name: str = "any") -> list[Batch]:
    return of("".join(f"{line}\n" for line in lines).encode(), name)


def links(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    return rows(batches, LinkSamples)


def power(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    return rows(batches, PowerSamples)


def ib(metric: str, value: object) -> str:
    return f'{IB}{metric}{{device="mlx5_0",port="1"}} {value}'


def test_metrics_of_nvidia_smi() -> None:
    labels = f'{{uuid="{UUID}"}}'
    values = {
        "power_draw_watts": "71.15",
        "power_draw_average_watts": "70.1",
        "power_draw_instant_watts": "66.5",
        "power_limit_watts": "650",
        "enforced_power_limit_watts": "600",
        "temperature_gpu": "42",
        "temperature_memory": "48",
        "clocks_current_sm_clock_hz": "1.755e+09",
        "clocks_event_reasons_active": "5",
        "clocks_event_reasons_counters_sw_power_cap_seconds": "200.740215",
        "clocks_event_reasons_counters_hw_power_brake_slowdown_seconds": "0.5",
        "clocks_event_reasons_counters_sw_thermal_slowdown_seconds": "1e-06",
        "utilization_gpu_ratio": "0.97",
        "memory_used_bytes": "7.1e+10",
    }
    (row,) = power(read(*(f"nvidia_smi_{n}{labels} {v}" for n, v in values.items())))
    assert (row["gpu_uuid"], row["host"]) == (f"GPU-{UUID}", None)
    assert (row["power_average_w"], row["power_instant_w"]) == (70.1, 66.5)
    assert (row["power_limit_w"], row["sm_clock_mhz"]) == (600, 1755)
    assert (row["temperature_c"], row["memory_temperature_c"]) == (42, 48)
    assert (row["throttle_reasons"], row["utilization_ratio"]) == (5, 0.97)
    assert row["throttle_power_ns"] == 201_240_215_000
    assert row["throttle_thermal_ns"] == 1_000


def test_two_exporters_of_one_node_tell_of_one_gpu() -> None:
    gpu = f"GPU-{UUID}"
    batches = read(
        f'DCGM_FI_DEV_POWER_USAGE{{UUID="{gpu}",Hostname="ember-07"}} 70',
        f'nvidia_smi_power_draw_instant_watts{{uuid="{UUID}"}} 66.5',
        f'nvidia_smi_power_draw_watts{{uuid="{UUID}"}} 71',
        UNAME,
    )
    (row,) = power(batches)
    assert (row["host"], row["gpu_uuid"]) == ("ember-07", gpu)
    assert (row["power_average_w"], row["power_instant_w"]) == (70, 66.5)


def test_without_the_average_the_draw_is_taken() -> None:
    (row,) = power(read(f'nvidia_smi_power_draw_watts{{uuid="{UUID}"}} 71.15'))
    assert row["power_average_w"] == 71.15


def test_under_mig_the_engine_of_an_instance_is_not_that_of_the_gpu() -> None:
    engine = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
    batches = read(
        f'{engine}{{UUID="a",GPU_I_ID="3"}} 1.000000',
        'DCGM_FI_DEV_GPU_TEMP{UUID="a"} 40',
        f'{engine}{{UUID="b"}} 0.250000',
        f'{engine}{{UUID="c"}} 0.900000',
        'DCGM_FI_DEV_GPU_UTIL{UUID="c"} 50',
    )
    found = {row["gpu_uuid"]: row["utilization_ratio"] for row in power(batches)}
    assert found == {"a": None, "b": 0.25, "c": 0.5}


def test_open_metrics() -> None:
    batches = read(
        "# TYPE DCGM_FI_DEV_POWER_USAGE gauge",
        'DCGM_FI_DEV_POWER_USAGE{UUID="G"} 8 1764408600.217',
        'DCGM_FI_DEV_POWER_USAGE{UUID="G"} 9 1764408615.000',
        'node_network_receive_bytes_total{device="e"} 7 1764408615 # {id="a"} 1 2.5',
        UNAME,
        "# EOF",
    )
    found = power(batches)
    assert [row["time_ns"] for row in found] == [
        STAMP * 1_000_000,
        1_764_408_615 * 10**9,
    ]
    assert {row["time_quality"] for row in found} == {"exact"}
    (link,) = links(batches)
    assert (link["rx_bytes"], link["time_ns"]) == (7, 1_764_408_615 * 10**9)
    assert refused(batches) == []


def timed(metric: str, times: Iterable[int]) -> list[str]:
    return [f'{metric}{{UUID="G"}} {100 + n} {STAMP + 15_000 * n}' for n in times]


def test_one_metric_after_the_other_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # GIVEN a dump whose second metric begins after rows of the first have left
    lines = [
        *timed("DCGM_FI_DEV_POWER_USAGE", range(40)),
        *timed("DCGM_FI_DEV_GPU_TEMP", range(40)),
    ]
    monkeypatch.setattr(gather, "HELD_SAMPLES", 8)
    monkeypatch.setattr(text_reader, "blocks", partial(blocks, size=200))

    # WHEN it is read
    found = power(read(*lines))

    # THEN every sample is in one row, no two rows share a key, and late ones say so
    keys = [tuple(row[name] for name in PowerSamples.key) for row in found]
    assert len(set(keys)) == len(keys)
    watts = [row["power_average_w"] for row in found]
    degrees = [row["temperature_c"] for row in found]
    assert sorted(w for w in watts if w is not None) == [100 + n for n in range(40)]
    assert sorted(d for d in degrees if d is not None) == [100 + n for n in range(40)]
    late = [row for row in found if row["series"]]
    assert {row["series"] for row in late} == {"DCGM_FI_DEV_GPU_TEMP"}
    assert len(late) >= 30


def test_text_of_an_exporter_is_known() -> None:
    def names(text: str) -> list[str]:
        head = Head("metrics", text.encode())
        return [source.name for source in SOURCES if source.recognizes(head)]

    assert names("# HELP a b\n# TYPE a counter\na 1\n") == ["prometheus-text"]
    assert names(ib("symbol_error_total", 1)) == ["prometheus-text"]
    assert names("# TYPE is a word\na 1\n") == []
    assert names("go_goroutines 12\n") == []


def test_real_metrics_of_nvidia_gpu_exporter(shared: Path) -> None:
    folder = shared / "data/power/utkuozdemir+nvidia_gpu_exporter"
    paths = sorted((folder / "internal/integration/testdata").glob("*.metrics"))
    assert len(paths) == 5
    for path in paths:
        text = path.read_text()
        batches = of(text.encode(), path.name)
        (row,) = power(batches)
        for metric, column, unit in (
            ("power_draw_watts", "power_average_w", 1),
            ("power_draw_instant_watts", "power_instant_w", 1),
            ("enforced_power_limit_watts", "power_limit_w", 1),
            ("temperature_gpu", "temperature_c", 1),
            ("clocks_current_sm_clock_hz", "sm_clock_mhz", 1e6),
        ):
            value = text.partition(f"\nnvidia_smi_{metric}{{")[2].split()[1]
            assert row[column] == float(value) / unit, (path.name, metric)
        assert row["gpu_uuid"] == f"file:{path.name} ffffffff"
        is_mig = "mig" in path.name
        assert (row["utilization_ratio"] is None) is is_mig
        comments = [line for line in text.splitlines() if not line.startswith("#")]
        assert (records(batches), refused(batches)) == (len(comments), [])


@settings(deadline=None, max_examples=examples(40))
@given(st.binary(max_size=200), st.integers(0, 9_000))
def test_damaged_text_keeps_the_law(noise: bytes, at: int) -> None:
    sample = SAMPLE.read_bytes()
    batches = of(sample[:at] + noise + sample[at + len(noise) :])
    lines = records(batches)
    assert len(refused(batches)) <= lines
    for batch in batches:
        assert all(refusal.rule and refusal.place for refusal in batch.refused)


@settings(deadline=None, max_examples=examples(40))
@given(st.text(st.sampled_from('{}"=,#_ \\nodeinfband019.e+-\n'), max_size=80))
def test_no_text_stops_the_reader(text: str) -> None:
    of(f"{ib('link_downed_total', 0)}\n{UNAME}\n{text}".encode())
