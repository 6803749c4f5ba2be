"""DCGM's gauge of the last Xid: changes are events, values are not."""

from pathlib import Path
from typing import Any

import polars as pl

from analysis._analysis import Frames
from analysis.incidents import ANALYSIS, IncidentEvents, Incidents
from ingest.sources import dcgm_exporter
from ingest.tables import Failures, PowerSamples, Table
from ingest.times import SECOND_NS
from tests.analysis.test_incidents import rows_of, xid
from tests.ingest.readings import held, read_lines, rows

Row = dict[str, Any]


def gauge(at: int, code: int | None, gpu: str = "GPU-0") -> Row:
    return {
        "cluster": "pod",
        "host": "a",
        "gpu_uuid": gpu,
        "level": "gpu_board",
        "time_ns": at * SECOND_NS,
        "last_xid": code,
    }


def find(samples: list[Row], lines: list[Row] | None = None) -> pl.DataFrame:
    tables: dict[type[Table], pl.LazyFrame] = {
        PowerSamples: rows_of(PowerSamples, samples),
        Failures: rows_of(Failures, lines or []),
    }
    found = ANALYSIS.compute(Frames(tables), ANALYSIS.thresholds)
    Incidents.validate(found[Incidents])
    return IncidentEvents.validate(found[IncidentEvents]).sort("first_ns", "gpu_key")


def test_a_value_that_stays_is_no_event_and_each_change_is_one() -> None:
    # second  0  30  60  90  120  150  180  210
    # gauge   0   0  48  48   48    0   79   79
    values = (0, 0, 48, 48, 48, 0, 79, 79)
    events = find([gauge(30 * n, code) for n, code in enumerate(values)])
    told = events.select("code", "first_ns", "severity", "action").rows()
    assert told == [
        ("48", 60 * SECOND_NS, "fatal", "reset_gpu"),
        ("79", 180 * SECOND_NS, "fatal", "reboot_node"),
    ]


def test_what_the_gauge_showed_first_is_of_before() -> None:
    assert find([gauge(0, 43), gauge(30, 43), gauge(0, None, "GPU-1")]).is_empty()


def test_order_and_files_do_not_matter() -> None:
    samples = [gauge(30 * n, code) for n, code in enumerate((0, 31, 31, 13))]
    assert find(samples[::-1]).equals(find(samples))


def test_the_drivers_own_line_is_the_same_event() -> None:
    # the driver logs 79 at 100 s, the gauge shows it at 120 s
    events = find([gauge(90, 0), gauge(120, 79)], [xid(79, 100)])
    assert events.select("code", "lines", "first_ns").rows() == [
        ("79", 2, 100 * SECOND_NS)
    ]


def test_the_exporters_gauge_is_read(project: Path) -> None:
    text = (project / "sample_traces/formats/dcgm-exporter/ember-07.prom").read_text()
    batches = held(read_lines(dcgm_exporter.SOURCE, *text.splitlines()))
    told = [row["last_xid"] for row in rows(batches, PowerSamples)]
    assert any(code is not None for code in told)
