"""XML of nvidia-smi: three schemas, many documents, damaged ones and hostile ones."""

from datetime import UTC, datetime

import pytest

from ingest.tables import PowerSamples
from ingest.times import parse_zone
from tests.ingest.readings import MARK, reading, records, refused
from tests.ingest.smi_documents import document, drawing, gpu, read, samples, watts

NOON_NS = int(datetime(2023, 8, 4, 11, 44, 30, tzinfo=UTC).timestamp()) * 10**9


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        (
            (
                "<power_readings><power_draw>25.58 W</power_draw>"
                "<power_limit>300.00 W</power_limit>"
                "<enforced_power_limit>250.00 W</enforced_power_limit></power_readings>"
            ),
            (25.58, None, 250.0),
        ),
        (
            (
                "<gpu_power_readings><power_draw>22.78 W</power_draw>"
                "<current_power_limit>336.00 W</current_power_limit>"
                "<requested_power_limit>340.00 W</requested_power_limit>"
                "</gpu_power_readings>"
            ),
            (22.78, None, 336.0),
        ),
        (
            (
                "<gpu_power_readings><average_power_draw>8.81 W</average_power_draw>"
                "<instant_power_draw>8.44 W</instant_power_draw>"
                "<current_power_limit>N/A</current_power_limit>"
                "<requested_power_limit>70.00 W</requested_power_limit>"
                "</gpu_power_readings>"
                "<gpu_memory_power_readings>"
                "<average_power_draw>3 W</average_power_draw>"
                "</gpu_memory_power_readings>"
            ),
            (8.81, 8.44, 70.0),
        ),
        (
            (
                "<gpu_power_readings><average_power_draw>8.81 W</average_power_draw>"
                "<instant_power_draw>8.44 W</instant_power_draw>"
                "<gpu_ceiling_power_limit>"
                "<current_power_limit>250.00 W</current_power_limit>"
                "<requested_power_limit>260.00 W</requested_power_limit>"
                "</gpu_ceiling_power_limit>"
                "<max_power_limit>350.00 W</max_power_limit></gpu_power_readings>"
            ),
            (8.81, 8.44, 250.0),
        ),
    ],
    ids=["v11", "v12", "v13", "610"],
)
def test_the_schemas_of_power(
    group: str, expected: tuple[float, float | None, float]
) -> None:
    (row,) = samples(read(document(gpu(group))))
    found = (row["power_average_w"], row["power_instant_w"], row["power_limit_w"])
    assert found == expected
    assert row["level"] == "gpu_board"


def test_a_module_has_a_row_of_its_own() -> None:
    power = "<average_power_draw>{} W</average_power_draw>"
    groups = (
        f"<gpu_power_readings>{power.format(500)}</gpu_power_readings>"
        f"<module_power_readings>{power.format(640)}</module_power_readings>"
    )
    batches = read(document(gpu(groups)))
    (batch,) = [batch for batch in batches if batch.rows]
    found = batch.rows[PowerSamples].select("level", "power_average_w").rows()
    assert found == [("gpu_board", 500.0), ("module", 640.0)]
    assert records(batches) == 1


@pytest.mark.parametrize("word", ["throttle", "event"])
def test_reasons_and_counters(word: str) -> None:
    reasons = "".join(
        f"<clocks_{word}_reason_{name}>{state}</clocks_{word}_reason_{name}>"
        for name, state in {
            "gpu_idle": "Not Active",
            "sw_power_cap": "Active",
            "hw_thermal_slowdown": "Active",
            "display_clocks_setting": "Active",
        }.items()
    )
    prefix = "clocks_event_reasons_counters"
    counters = "".join(
        f"<{prefix}_{name}>{time} us</{prefix}_{name}>"
        for name, time in {
            "sw_power_cap": 5,
            "hw_power_brake": 7,
            "sw_therm_slowdown": 11,
            "hw_therm_slowdown": 13,
        }.items()
    )
    (row,) = samples(
        read(
            document(
                gpu(
                    f"<clocks_{word}_reasons>{reasons}</clocks_{word}_reasons>"
                    f"<{prefix}>{counters}</{prefix}>"
                )
            )
        )
    )
    assert row["throttle_reasons"] == 0x4 | 0x40 | 0x100
    assert (row["throttle_power_ns"], row["throttle_thermal_ns"]) == (12_000, 24_000)


def test_only_what_is_meant_is_taken() -> None:
    (row,) = samples(
        read(
            document(
                gpu(
                    "<uuid>GPU-1</uuid>"
                    "<temperature><gpu_temp_tlimit>26 C</gpu_temp_tlimit>"
                    "<gpu_temp>59 C</gpu_temp>"
                    "<memory_temp>N/A</memory_temp></temperature>"
                    "<max_clocks><sm_clock>1980 MHz</sm_clock></max_clocks>"
                    "<clocks><sm_clock>345 MHz</sm_clock></clocks>"
                    "<utilization><gpu_util>57 %</gpu_util></utilization>"
                    "<processes><process_info><uuid>GPU-9</uuid></process_info>"
                    "</processes>"
                )
            )
        )
    )
    assert (row["temperature_c"], row["memory_temperature_c"]) == (59.0, None)
    assert (row["sm_clock_mhz"], row["utilization_ratio"]) == (345.0, 0.57)
    assert row["gpu_uuid"] == "GPU-1"


@pytest.mark.parametrize("uuid", ["N/A", "GPU-00000000-0000-0000-0000-000000000000"])
def test_a_gpu_without_a_uuid_has_its_address(uuid: str) -> None:
    told = gpu(f"<uuid>{uuid}</uuid>", "00000000:5D:00.0")
    (row,) = samples(read(document(told)))
    assert row["gpu_uuid"] == f"pci:0000:5d:00 of {MARK}"


@pytest.mark.parametrize(
    ("zone", "basis", "before_ns", "quality"),
    [("UTC", "assumed", 0, "zone_assumed"), ("+02:00", "option", 7_200, "exact")],
)
def test_time_is_local(zone: str, basis: str, before_ns: int, quality: str) -> None:
    told = reading(zone=parse_zone(zone), zone_basis=basis)
    (row,) = samples(read(document(drawing(5)), told))
    assert row["time_ns"] == NOON_NS - before_ns * 10**9
    assert row["time_quality"] == quality


@pytest.mark.parametrize("stamp", ["", "N/A", "Fri Aug 32 11:44:30 2023", "1691149470"])
def test_what_is_no_time_is_refused(stamp: str) -> None:
    batches = read(document(drawing(5), stamp=stamp))
    assert refused(batches) == [("line 5", "time_ns|value")]


def test_a_value_that_is_none_is_refused() -> None:
    group = "<power_readings><power_draw>many W</power_draw></power_readings>"
    batches = read(document(gpu(group), drawing(1)))
    assert refused(batches) == [("line 5", "power_average_w|value")]
    assert watts(batches) == [1.0]
