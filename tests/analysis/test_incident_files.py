"""How a log was cut into files, and in which order they came, changes no incident."""

from itertools import pairwise
from typing import Any

import duckdb
import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given, settings

from ingest.sources import kernel_log
from ingest.tables import Failures
from tests.analysis.test_incidents import find
from tests.examples import examples
from tests.ingest.readings import held, read_lines, rows

pytestmark = pytest.mark.thorough

Row = dict[str, Any]


def line(second: int, said: str, host: str = "a") -> str:
    minutes, seconds = divmod(second, 60)
    stamp = f"2026-03-01T12:{minutes:02}:{seconds:02}.000000+00:00"
    return f"{stamp} {host} kernel: [{1000 + second}.000000] NVRM: {said}"


def xid(second: int, code: int, bus: str = "5d", host: str = "a") -> str:
    return line(second, f"Xid (PCI:0000:{bus}:00): {code}, pid=7, name=python", host)


WORDS = "GPU 0000:5d:00.0: GPU has fallen off the bus."

#: A GPU's memory fails, work is removed on its neighbours; much later one is lost.
LOG = [
    xid(0, 48),
    xid(2, 63),
    *[xid(4, 45, bus) for bus in ("19", "3b", "4c", "5d")],
    xid(9, 45, host="b"),
    xid(12, 13, "3b"),
    xid(700, 79),
    xid(701, 154),
    xid(760, 999),
]


def failures(*files: list[str]) -> list[Row]:
    """Rows of files, each told once, as the lake keeps them."""
    read = [rows(held(read_lines(kernel_log.SOURCE, *one)), Failures) for one in files]
    unique = {
        tuple(row.get(k) for k in Failures.key): row for one in read for row in one
    }
    return [
        {name: row[name] for name in row if name != "place"} for row in unique.values()
    ]


def test_the_log_has_the_incidents_that_it_tells_of() -> None:
    incidents, events = find(failures(LOG))
    columns = ("root_code", "role", "events", "severity", "action", "catalogue")
    assert incidents.select(columns).rows() == [
        ("48", "root", 7, "fatal", "reset_gpu", "NVIDIA 2025-10-29"),
        ("45", "cascade", 1, "info", "follow_other_code", "NVIDIA 2025-10-29"),
        ("79", "root", 3, "fatal", "reboot_node", "NVIDIA 2025-10-29"),
    ]
    (unknown,) = events.filter(code="999").to_dicts()
    assert unknown["name"] == "not in catalogue NVIDIA 2025-10-29"
    assert (unknown["severity"], unknown["action"]) == (None, None)


@settings(max_examples=min(examples(60), 60) // 3, deadline=None)
@given(
    st.lists(st.integers(0, len(LOG)), max_size=3),
    st.integers(0, 4),
    st.randoms(use_true_random=False),
)
def test_rotated_copied_and_shuffled_files_change_nothing(
    cuts: list[int], overlap: int, rng: Any
) -> None:
    bounds = [0, *sorted(cuts), len(LOG)]
    parts = [LOG[max(start - overlap, 0) : end] for start, end in pairwise(bounds)]
    copies = [*parts, *parts[:1]]
    rng.shuffle(copies)
    told = failures(*copies)
    rng.shuffle(told)
    incidents, events = find(told)
    whole, all_events = find(failures(LOG))
    assert incidents.equals(whole)
    key = ["incident_id", "host", "gpu_key", "code", "first_ns"]
    assert events.sort(key).equals(all_events.sort(key))


def test_words_in_one_file_and_the_code_in_the_next_are_one_loss() -> None:
    # the words at 100 s, Xid 79 four minutes later, in another file
    incidents, events = find(failures([line(100, WORDS)], [xid(340, 79)]))
    assert events.select("code", "lines").rows() == [("79", 2)]
    assert incidents.height == 1
    _, far = find(failures([line(100, WORDS)], [xid(401, 79)]))
    assert far.height == 2


def test_a_spread_over_the_gpus_of_a_host_is_one_incident() -> None:
    lines = [xid(n, 119, f"{n + 16:x}") for n in range(8)]
    incidents, events = find(failures(lines))
    assert (incidents.height, events.height) == (1, 8)


def test_an_application_error_beside_a_defect_of_its_gpu_is_not_the_users() -> None:
    # 13 on the GPU whose memory fails, and 13 on its neighbour
    lines = [xid(0, 13), xid(2, 48), xid(3, 13, "3b")]
    _, events = find(failures(lines))
    roles = {
        (gpu, code): role
        for gpu, code, role in events.select("gpu_key", "code", "role").rows()
    }
    assert roles == {
        ("0000:5d:00", "13"): "cascade",
        ("0000:5d:00", "48"): "root",
        ("0000:3b:00", "13"): "user",
    }


#: From an incident to the lines that tell of it; each line belongs to one event.
LINES = """
SELECT e.incident_id, e.code, f.message, f.place
FROM incident_events AS e JOIN (
  SELECT *, row_number() OVER (
    PARTITION BY cluster, host, gpu_key, source, code, run_id, time_ns
    ORDER BY boot_offset_ns NULLS FIRST, message NULLS FIRST, occurrence) - 1 AS place
  FROM failures) AS f
ON e.cluster = f.cluster AND e.source = f.source AND e.code = f.code
AND e.host IS NOT DISTINCT FROM f.host AND e.gpu_key IS NOT DISTINCT FROM f.gpu_key
AND e.told_run_id IS NOT DISTINCT FROM f.run_id
AND (f.time_ns BETWEEN e.first_ns AND e.last_ns
     OR (f.time_ns IS NULL AND e.undated = f.place))
"""


def test_each_line_is_found_again_by_its_incident() -> None:
    undated = [
        row | {"time_ns": None, "time_quality": "unknown"} for row in failures(LOG)
    ]
    told = [*failures(LOG), *undated, *[row | {"run_id": "q"} for row in failures(LOG)]]
    incidents, events = find(told)
    lake = duckdb.connect()
    lake.register("incident_events", events.to_arrow())
    lake.register(
        "failures", pl.DataFrame(told, schema=Failures.create_empty().schema).to_arrow()
    )
    found = lake.sql(LINES).pl()
    assert found.height == len(told) == incidents["lines"].sum()
    counts = dict(found.group_by("incident_id").len().iter_rows())
    assert counts == dict(incidents.select("incident_id", "lines").iter_rows())
