"""Answers of the HTTP API: vectors, matrices, exports, errors, damage, equal keys."""

import json
from pathlib import Path

import polars as pl
import pytest

from analysis._energy_samples import mark_doubts, one_per_time
from ingest.errors import UnreadableFileError
from ingest.lake import snapshot
from ingest.sources import SOURCES, Head, prometheus_api
from ingest.tables import LinkSamples, PowerSamples, RejectedRows
from tests.ingest.prometheus_answers import (
    AT,
    AT_NS,
    POWER,
    labels,
    matrix,
    of,
    power,
    vector,
)
from tests.ingest.readings import records, refused, repairs, rows
from tests.ingest.tiny import assert_accounted, candidate, ingest


def test_an_instant_query() -> None:
    batches = of(vector((labels(), "68.347"), (labels(gpu="GPU-2"), "NaN")))
    first, second = power(batches)
    assert (first["host"], first["gpu_uuid"], first["time_ns"]) == (
        "node-1",
        "GPU-1",
        AT_NS,
    )
    assert (first["power_average_w"], second["power_average_w"]) == (68.347, None)
    assert (first["series"], first["time_quality"]) == (POWER, "resampled")
    assert first["place"] == "entry 1"
    assert (records(batches), refused(batches)) == (2, [])


def test_raw_samples_have_their_own_times() -> None:
    times = ["1773114089.943", "1773114104.945", "1773114119.943"]
    batches = of(matrix((labels(), [(at, "5") for at in times])))
    found = power(batches)
    assert [row["time_ns"] for row in found] == [
        int(at.replace(".", "")) * 1_000_000 for at in times
    ]
    assert {row["time_quality"] for row in found} == {"exact"}


def test_a_range_query_has_steps() -> None:
    steps = [(str(1_773_114_090 + 15 * n), "5") for n in (0, 1, 2, 9)]
    found = power(of(matrix((labels(), steps))))
    assert [row["time_quality"] for row in found] == ["resampled"] * 4


def test_workload_labels_do_not_split_a_gpu() -> None:
    """`pod` is the exporter's own where `exported_pod` stands beside it."""
    series = [
        (labels(exported_pod=pod, pod="dcgm-exporter-x"), [(AT, value)])
        for pod, value in (("a", "100"), ("b", "101"))
    ]
    batches = of(matrix(*series))
    (row,) = power(batches)
    assert (row["power_average_w"], repairs(batches)) == (101, 1)


@pytest.mark.parametrize(
    "text",
    [
        '[{"metric": %s, "value": [%s, "5"]}]',
        '{\n "data": [\n  {\n   "metric": %s,\n   "value": [\n    %s,\n    "5"]}]}',
        '{"metric":%s,"value":[%s,"5"]}\n',
        '{"metric":%s,"value":[%s,5]}',
        '{"data":{"result":[{"metric":%s,"value":[%s,"5"]}]},"infos":["a [b] } ]"]}',
    ],
)
def test_forms_of_an_answer(text: str) -> None:
    named = json.dumps({"metric": "x", **labels(pod="a }] {b")})
    whole = text % (named, AT)
    assert prometheus_api.recognizes(Head("x", whole.encode()))
    (row,) = power(of(whole))
    assert (row["power_average_w"], row["time_ns"]) == (5, AT_NS)


def test_answers_one_after_the_other() -> None:
    one = vector((labels(), "5"))
    two = vector((labels("DCGM_FI_DEV_GPU_TEMP"), "40"))
    found = power(of(f"{one}\n{two}\n"))
    assert [row["series"] for row in found] == [POWER, "DCGM_FI_DEV_GPU_TEMP"]


def test_export_of_victoria_metrics() -> None:
    lines = [
        {
            "metric": labels(),
            "values": [68.5, None, 70],
            "timestamps": [1773114089943, 1773114104943, 1773114119943],
        },
        {"metric": labels(gpu="b"), "values": [1, 2], "timestamps": [1773114089943]},
    ]
    batches = of("".join(f"{json.dumps(line)}\n" for line in lines))
    found = power(batches)
    assert [row["power_average_w"] for row in found] == [68.5, None, 70]
    assert found[0]["time_ns"] == AT_NS
    assert {row["time_quality"] for row in found} == {"exact"}
    assert refused(batches) == [("entry 2", "cell_count")]


def test_ports_are_read_too() -> None:
    named = {
        "__name__": "node_infiniband_port_data_received_bytes_total",
        "device": "mlx5_0",
        "port": "1",
        "instance": "node-1:9100",
    }
    batches = of(vector((named, "22447398712")))
    (row,) = rows(batches, LinkSamples)
    assert (row["host"], row["port"], row["rx_bytes"]) == (
        "node-1",
        "mlx5_0/1",
        22_447_398_712,
    )
    assert row["time_quality"] == "resampled"


def test_the_result_of_an_expression_is_refused() -> None:
    nameless = {"UUID": "GPU-1"}
    batches = of(matrix((nameless, [(AT, "5"), (AT, "6")]), (labels(), [(AT, "7")])))
    assert refused(batches) == [("entry 1", "metric|required")]
    (refusal,) = (r for batch in batches for r in batch.refused)
    assert "query the metric itself" in str(refusal.hint)
    assert len(power(batches)) == 1


def test_an_error_is_no_answer() -> None:
    text = '{"status":"error","errorType":"timeout","error":"query timed out"}'
    assert prometheus_api.recognizes(Head("x", text.encode()))
    with pytest.raises(UnreadableFileError, match="query timed out"):
        of(text)


def test_series_in_another_form_are_not_passed_over() -> None:
    text = f'{{"resultType":"vector","result":[{{"value":[{AT},"5"],"metric":{{}}}}]}}'
    with pytest.raises(UnreadableFileError, match="begin with"):
        of(text)


@pytest.mark.parametrize("kind", ["vector", "matrix", "scalar", "string"])
def test_an_answer_without_series_is_whole(kind: str) -> None:
    result = '[1773114089.9,"5"]' if kind in {"scalar", "string"} else "[]"
    text = f'{{"status":"success","data":{{"resultType":"{kind}","result":{result}}}}}'
    assert prometheus_api.recognizes(Head("x", text.encode()))
    assert (power(of(text)), refused(of(text))) == ([], [])


@pytest.mark.parametrize(
    ("sample", "rule"),
    [
        ('[1773114089.9,"N/A"]', "value|number"),
        ('["soon","5"]', "time_ns|value"),
        ('[0,"5"]', "time_ns|value"),
        ("[1773114089.9]", "value|number"),
        ("5", "value|number"),
        ("[1773114089.9,NaN]", "json"),
        ('[1773114089.9,"-1e300"]', "power_average_w|value"),
    ],
)
def test_samples_that_are_none(sample: str, rule: str) -> None:
    good = f'{{"metric":{json.dumps(labels())},"value":[{AT},"5"]}}'
    bad = good.replace(f'[{AT},"5"]', sample)
    batches = of(f"[{bad},{good}]")
    assert refused(batches) == [("entry 1", rule)]
    assert len(power(batches)) == 1


@pytest.mark.parametrize("named", ['{"a":5}', '{"a":{"b":"c"}}', '{"a":null}'])
def test_labels_that_are_none(named: str) -> None:
    batches = of(f'[{{"metric":{named},"value":[{AT},"5"]}}]')
    assert refused(batches) == [("entry 1", "type")]


def test_answers_for_one_instant_are_rows_beside_each_other(tmp_path: Path) -> None:
    # GIVEN answers for power and temperature of one instant, and one of them again
    answers = {
        "power.json": vector((labels(), "600")),
        "heat.json": vector((labels("DCGM_FI_DEV_GPU_TEMP"), "50")),
        "again.json": vector((labels(), "600")) + "\n",
    }
    for name, text in answers.items():
        (tmp_path / name).write_text(text)

    # WHEN they are ingested
    source = prometheus_api.SOURCE
    paths = [tmp_path / name for name in answers]
    ingest(tmp_path / "lake", [candidate(path, source=source) for path in paths])

    # THEN the answers are rows of their own, the repetition is refused, and the energy
    # analysis sees one sample without a blank
    assert_accounted(tmp_path / "lake")
    lake = snapshot(tmp_path / "lake")
    kept = lake.scan(PowerSamples).collect()
    assert sorted(kept["series"]) == ["DCGM_FI_DEV_GPU_TEMP", POWER]
    assert lake.scan(RejectedRows).collect()["rule"].to_list() == ["duplicate"]
    sample = mark_doubts(one_per_time(kept.with_columns(device=pl.lit(0))))
    (row,) = sample.to_dicts()
    assert (row["power_average_w"], row["temperature_c"]) == (600, 50)
    assert (row["is_resampled"], row["power_average_w_blank"]) == (True, False)


def test_real_answers(shared: Path) -> None:
    folder = shared / "data/power/NVIDIA+aicr"
    for name, column, unit in (
        ("power_usage", "power_average_w", 1),
        ("gpu_temp", "temperature_c", 1),
        ("gpu_util", "utilization_ratio", 100),
        ("fb_used", None, 1),
    ):
        data = (folder / f"prom_instant_query_{name}.json").read_bytes()
        head = Head("x", data[:65_536])
        assert [s.name for s in SOURCES if s.recognizes(head)] == ["prometheus-api"]
        result = json.loads(data)["data"]["result"]
        expected = {s["metric"]["UUID"]: float(s["value"][1]) / unit for s in result}
        batches = of(data)
        found = {row["gpu_uuid"]: row[column] for row in power(batches) if column}
        assert (found or None) == (expected if column else None)
        assert (records(batches), refused(batches)) == (16, [])
        if name == "power_usage":
            assert {row["time_ns"] for row in power(batches)} == {AT_NS}
