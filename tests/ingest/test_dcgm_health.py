"""DCGM's health checks and diagnoses: trees, results, what did not pass."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import _dcgm_errors, dcgm_health
from tests.examples import examples
from tests.ingest.failure_samples import damage, read_bytes, sample_of, takers

SOURCE = dcgm_health.SOURCE
SAMPLE = sample_of(SOURCE)


def of_result(**result: Any) -> list[dict[str, Any]]:
    tests = [{"name": "memory bandwidth", "results": [result]}]
    told = {"DCGM Diagnostic": {"test_categories": [{"category": "X", "tests": tests}]}}
    found, refused = read_bytes(SOURCE, json.dumps(told).encode())
    assert not refused
    return found


def test_sample() -> None:
    found, refused = read_bytes(SOURCE, SAMPLE)
    assert not refused
    assert takers(SAMPLE)[0] == SOURCE.name
    assert [(r["gpu_key"], r["code"], r["severity"], r["part"]) for r in found] == [
        ("index:2", "dcgm_nvlink", "error", None),
        ("index:2", "dcgm_pcie", "warning", None),
        (None, "dcgm_nvlink", "error", "NvSwitch 1"),
        ("index:0", "DCGM_FR_PERSISTENCE_MODE", "info", None),
        ("index:1", "DCGM_FR_FAULTY_MEMORY", "fatal", None),
    ]
    assert found[0]["message"].startswith("GPU 2's NvLink link 5 is currently down")
    assert {r["time_quality"] for r in found} == {"unknown"}


def test_a_healthy_report_has_no_rows() -> None:
    report = {"body": {"Overall Health": {"value": "Healthy"}}, "header": ["x"]}
    assert read_bytes(SOURCE, json.dumps(report).encode()) == ([], [])


@pytest.mark.parametrize("status", ["Pass", "Skip", "Not Run", "", None])
def test_what_passed_or_did_not_run_is_no_row(status: str | None) -> None:
    assert not of_result(status=status, warnings=["x"])


def test_older_results_name_their_warnings_in_words() -> None:
    (row,) = of_result(status="Fail", gpu_id="3", warnings="bandwidth of GPU 3 is low")
    assert (row["gpu_key"], row["code"]) == ("index:3", "diag_memory_bandwidth")
    assert (row["severity"], row["message"]) == ("error", "bandwidth of GPU 3 is low")
    (row,) = of_result(status="Warn", gpu_ids="0,1")
    assert (row["gpu_key"], row["severity"]) == (None, "warning")
    assert row["message"] == "memory bandwidth: Warn"


def test_each_warning_is_a_row() -> None:
    warnings = [
        {"error_id": 52, "warning": "a"},
        {"error_id": 900, "warning": "b"},
        "c",
    ]
    found = of_result(status="Fail", entity_id=1, warnings=warnings)
    assert [(r["code"], r["message"]) for r in found] == [
        ("DCGM_FR_FAULTY_MEMORY", "a"),
        ("dcgm_900", "b"),
        ("diag_memory_bandwidth", "c"),
    ]


def test_another_document_is_refused() -> None:
    found, refused = read_bytes(SOURCE, b'{"DCGM Diagnostic": {}}')
    assert (found, [one.rule for one in refused]) == ([], ["test_categories|required"])


def test_errors_agree_with_the_published_list(shared: Path) -> None:
    table = shared / "data/failures/NVIDIA+DCGM/dcgm_errors.tsv"
    listed = [line.split("\t") for line in table.read_text().splitlines()[1:]]
    names = {int(number): code for number, code, *_ in listed}
    assert _dcgm_errors.IDENTIFIERS.items() <= names.items()
    assert not takers(table.read_bytes())


@pytest.mark.parametrize("value", [None, [], {}, 5, "x", True, 2**70])
@pytest.mark.parametrize("name", ["status", "warnings", "entity_group", "entity_id"])
def test_any_value_in_any_field(name: str, value: Any) -> None:
    of_result(**({"status": "Fail", "warnings": [{}]} | {name: value}))
    warning = {"error_id": value, "error_severity": value, "error_category": value}
    of_result(status="Fail", warnings=[warning])


@settings(max_examples=examples(50))
@given(st.one_of(st.binary(max_size=200), damage(SAMPLE)))
def test_damage_is_answered(data: bytes) -> None:
    read_bytes(SOURCE, data)
