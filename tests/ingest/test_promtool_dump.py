"""Dumps of promtool: names inside the braces, one series after the other."""

import io
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import SOURCES, Batch, Head, promtool_dump
from ingest.tables import LinkSamples, PowerSamples
from tests.examples import examples
from tests.ingest.readings import held, reading, records, refused, rows

STAMP = 1_764_408_600_217

SAMPLE = (
    Path(__file__).resolve().parents[2] / "sample_traces/formats/promtool-dump/dump.txt"
)


def of(data: bytes) -> list[Batch]:
    return held(promtool_dump.read(io.BytesIO(data), reading()))


def read(*lines: str) -> list[Batch]:
    return of("".join(f"{line}\n" for line in lines).encode())


def dumped(metric: str, value: object, n: int = 0, labels: str = 'UUID="G"') -> str:
    return f'{{__name__="{metric}", {labels}}} {value} {STAMP + 15_000 * n}'


def test_each_metric_has_rows_of_its_own() -> None:
    batches = read(
        *(dumped("DCGM_FI_DEV_POWER_USAGE", 600.5 + n, n) for n in range(2)),
        *(dumped("DCGM_FI_DEV_GPU_TEMP", 50 + n, n) for n in range(2)),
        dumped("up", 1),
    )
    found = rows(batches, PowerSamples)
    told = [
        (row["series"], row["time_ns"], row["power_average_w"], row["temperature_c"])
        for row in found
    ]
    first, second = (STAMP * 1_000_000, (STAMP + 15_000) * 1_000_000)
    assert told == [
        ("DCGM_FI_DEV_POWER_USAGE", first, 600.5, None),
        ("DCGM_FI_DEV_POWER_USAGE", second, 601.5, None),
        ("DCGM_FI_DEV_GPU_TEMP", first, None, 50),
        ("DCGM_FI_DEV_GPU_TEMP", second, None, 51),
    ]
    assert {row["time_quality"] for row in found} == {"exact"}
    assert (records(batches), refused(batches)) == (5, [])


def test_labels_may_stand_before_the_name() -> None:
    (row,) = rows(
        read(f'{{UUID="G", __name__="DCGM_FI_DEV_GPU_TEMP"}} 50 {STAMP}'), PowerSamples
    )
    assert (row["temperature_c"], row["series"]) == (50, "DCGM_FI_DEV_GPU_TEMP")


def test_a_part_of_a_sum_is_no_throttled_time() -> None:
    reason = "DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS"
    batches = read(dumped(reason, 7), dumped("DCGM_FI_DEV_POWER_VIOLATION", 9))
    (row,) = rows(batches, PowerSamples)
    assert row["throttle_power_ns"] == 9


def test_a_part_of_the_discards_names_which() -> None:
    labels = 'device="m",port="1",instance="node-1:9100"'
    names = [
        f"node_infiniband_port_discards_{way}_total"
        for way in ("received", "transmitted")
    ]
    batches = read(*(dumped(name, 3, labels=labels) for name in names))
    found = {row["series"]: row["discards"] for row in rows(batches, LinkSamples)}
    assert found == dict.fromkeys(names, 3)


def test_stale_markers_are_null() -> None:
    (row,) = rows(read(dumped("DCGM_FI_DEV_POWER_USAGE", "NaN")), PowerSamples)
    assert row["power_average_w"] is None


def test_a_dump_is_known() -> None:
    def names(text: str) -> list[str]:
        head = Head("dump", text.encode())
        return [source.name for source in SOURCES if source.recognizes(head)]

    assert names(SAMPLE.read_text()) == ["promtool-dump"]
    assert names('{__name__="metric", baz="abc", foo="bar"} 1 0\n') == ["promtool-dump"]
    assert names('{a="b", __name__="metric"} NaN -60000\n') == ["promtool-dump"]
    assert names('{"__name__": "x", "message": "a} 1 2"}\n') == []


@settings(deadline=None, max_examples=examples(40))
@given(st.binary(max_size=200), st.integers(0, 5_000))
def test_a_damaged_dump_keeps_the_law(noise: bytes, at: int) -> None:
    sample = SAMPLE.read_bytes()
    batches = of(sample[:at] + noise + sample[at + len(noise) :])
    made = sum(frame.height for batch in batches for frame in batch.rows.values())
    assert made + len(refused(batches)) <= records(batches)
