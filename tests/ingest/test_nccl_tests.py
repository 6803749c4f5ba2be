"""Results of nccl-tests: tables by their header, documents, rows that were damaged."""

import io
import json
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import UnreadableFileError
from ingest.sources import SOURCES, Batch, Head, nccl_tests
from ingest.tables import BandwidthTests
from tests.examples import examples
from tests.ingest.readings import held, read_lines, reading, records, refused, rows

SOURCE = nccl_tests.SOURCE

HEADER = (
    "#  size  count  type  redop  root  time  algbw  busbw  #wrong"
    "  time  algbw  busbw  #wrong"
)
UNITS = "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)"


def row(
    size: int = 1 << 20, out: str = "100.0", back: str = "200.0", n: int = 16
) -> str:
    """Return a row of an all-reduce, with the bandwidths of its times."""
    halves = []
    for time in (out, back):
        algbw = size / float(time) / 1e3
        busbw = algbw * 2 * (n - 1) / n
        halves.append(f"{time:>9} {algbw:7.2f} {busbw:7.2f}      0")
    return f"{size:>12} {size // 4:>12}     float     sum      -1" + "".join(halves)


def ranks(count: int, *hosts: str, groups: int = 1) -> list[str]:
    each = count // len(hosts)
    return [
        f"#  Rank {n:2d} Group {n % groups:2d} Pid {70 + n} on {hosts[n // each]:>10}"
        f" device {n % each:2d} [0000:1b:00] NVIDIA H100 80GB HBM3"
        for n in range(count)
    ]


def read(*lines: str, **told: Any) -> list[Batch]:
    return held(read_lines(SOURCE, *lines, **told))


def table(*lines: str, **told: Any) -> list[dict[str, Any]]:
    return rows(read(HEADER, UNITS, *lines, **told), BandwidthTests)


def test_a_row_is_two_measurements() -> None:
    out, back = table(row())
    assert (out["in_place"], back["in_place"]) == (False, True)
    assert (out["duration_ns"], back["duration_ns"]) == (100_000, 200_000)
    assert (out["algbw_gbs"], out["busbw_gbs"]) == (10.49, 19.66)
    assert out["bytes_total"] == 1 << 20
    assert (out["dtype"], out["reduction"], out["root"]) == ("float", "sum", None)
    assert (out["wrong_count"], out["time_ns"], out["hosts"]) == (0, None, None)


def test_the_test_its_hosts_and_its_ranks_are_told_above() -> None:
    lines = [
        "# nccl-tests version 2.17.6 nccl-headers=22809 nccl-library=22809",
        "# Collective test starting: all_reduce_perf",
        "# Using devices",
        *ranks(16, "n1", "n2"),
        HEADER,
        row(),
    ]
    first = rows(read(*lines), BandwidthTests)[0]
    assert (first["kind"], first["hosts"], first["ranks"]) == ("allreduce", "n1,n2", 16)


def test_ranks_are_those_of_one_group() -> None:
    # GIVEN two groups of eight that measure side by side
    lines = ["# Collective test starting: all_reduce_perf"]
    lines += [*ranks(16, "n1", "n2", groups=2), HEADER, row(n=8)]
    assert rows(read(*lines), BandwidthTests)[0]["ranks"] == 8


def test_old_builds_name_no_group() -> None:
    old = [line.replace("Group  0 ", "") for line in ranks(2, "n1")]
    first = rows(read(*old, HEADER, row(n=2)), BandwidthTests)[0]
    assert (first["hosts"], first["ranks"]) == ("n1", 2)


@pytest.mark.parametrize("prefix", ["0: ", "0:", "[1,0]<stdout>:", "[1,0]<stdout>: "])
def test_launchers_put_something_before_each_line(prefix: str) -> None:
    lines = [f"{prefix}{line}" for line in (HEADER, UNITS, row())]
    assert len(rows(read(*lines), BandwidthTests)) == 2


def test_tables_of_one_file_are_tests_of_their_own() -> None:
    # GIVEN two tests and a command line, one file
    lines = [
        "$ ./build/all_reduce_perf -b 1M -e 1M",
        *(HEADER, row(), "# Avg bus bandwidth    : 14.7"),
        "$ ./build/sendrecv_perf -b 1M -e 1M",
        *(HEADER, row().replace("19.66", "10.49").replace("9.83", "5.24")),
    ]
    found = rows(read(*lines), BandwidthTests)
    assert [r["kind"] for r in found] == ["allreduce"] * 2 + ["sendrecv"] * 2
    assert len({r["test_id"] for r in found}) == 2
    assert [r["position"] for r in found] == [0, 1, 2, 3]


def test_the_kind_comes_from_the_name_or_from_the_bandwidths() -> None:
    plain = row().replace("19.66", "9.83").replace("9.83 ", "9.83 ", 1)
    assert {r["kind"] for r in table(row(), row(8, "98.1", "97.9"))} == {"allreduce"}
    named = table(plain.replace(" 19.66", " 9.83"), name="all_gather_2x.log")
    assert {r["kind"] for r in named} == {"allgather"}
    flat = "1048576 262144 float none -1 100.0 10.49 9.83 0 200.0 5.24 4.92 0"
    assert {r["kind"] for r in table(flat)} == {"unknown"}


def test_times_are_exact() -> None:
    printed = "2147483648 1 float sum -1 51406 41.77 78.33 N/A 1.3e+05 16.52 30.97 N/A"
    out, back = table(printed)
    assert (out["duration_ns"], back["duration_ns"]) == (51_406_000, 130_000_000)
    assert (out["wrong_count"], back["wrong_count"]) == (None, None)


def test_columns_are_found_by_the_header() -> None:
    # GIVEN headers of old builds, and with per-iteration and time-stamp columns
    old = "#  size  count  type  time  algbw  busbw  error  time  algbw  busbw  error"
    found = rows(
        read(old, "1048576 262144 float 100.0 10.49 9.83 0e+00 99.0 10.59 9.93 0e+00"),
        BandwidthTests,
    )
    assert [r["duration_ns"] for r in found] == [100_000, 99_000]
    assert [(r["reduction"], r["wrong_count"]) for r in found] == [(None, None)] * 2
    half = "time algbw busbw #wrong i_min i_max i_p99 i_cv%"
    long = f"# size count type redop root {half} {half} timestamp"
    cells = "100.0 10.49 19.66 0 99.0 110.0 108.0 1.5"
    line = f"1048576 1 float sum -1 {cells} {cells} 2026-03-02 09:00:01"
    batches = read(long, line, zone=ZoneInfo("Europe/Berlin"), zone_basis="option")
    (out, _) = rows(batches, BandwidthTests)
    stamp = datetime(2026, 3, 2, 9, 0, 1, tzinfo=ZoneInfo("Europe/Berlin"))
    assert out["time_ns"] == int(stamp.timestamp()) * 10**9
    assert out["time_quality"] == "exact"
    assert any(batch.zone_used for batch in batches)


def test_a_half_that_was_not_measured_gives_no_row() -> None:
    blank = f"{1 << 20:>12} {1 << 18:>12}     float     sum      -1" + " " * 32
    (only,) = table(blank + "    200.0    5.24    9.83      0")
    assert (only["in_place"], only["duration_ns"]) == (True, 200_000)
    (only,) = table("8 2 float sum -1 9.0 0.00 0.00 0 N/A N/A N/A N/A")
    assert only["in_place"] is False


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        (row().replace("10.49", "11.49"), ["algbw_gbs|value"]),
        (row().replace("100.0", "900.0"), ["algbw_gbs|value"]),
        (row()[:60], ["cell_count"]),
        (f"{row()} 7", ["cell_count"]),
        (row().replace("100.0", "fast "), ["duration_ns|value"]),
        (row().replace("100.0", "-1.00"), ["duration_ns|value"]),
        (row().replace("1048576", "9" * 30), ["bytes_total|value"] * 2),
    ],
)
def test_rows_that_were_damaged(line: str, rules: list[str]) -> None:
    batches = read(HEADER, row(), line, row())
    assert refused(batches) == [("line 3", rule) for rule in rules]
    assert records(batches) == len(rows(batches, BandwidthTests)) + len(rules)


def test_the_bus_bandwidth_is_that_of_the_ranks() -> None:
    lines = ["# Collective test starting: all_reduce_perf", *ranks(8, "n1"), HEADER]
    assert not refused(read(*lines, row(n=8)))
    rules = [rule for _, rule in refused(read(*lines, row(n=16)))]
    assert rules == ["busbw_gbs|value"] * 2


def test_a_test_without_a_result_is_told() -> None:
    assert refused(read(HEADER, UNITS)) == [("last line", "rows|required")]


def test_a_last_line_that_is_cut() -> None:
    data = f"{HEADER}\n{row()}\n{row()}"
    batches = held(SOURCE.read(io.BytesIO(data.encode()), reading()))
    assert refused(batches) == [("line 3", "truncated_line")]


def test_other_lines_are_no_rows() -> None:
    noise = [
        "2026-03-02 09:00:01 step 1",
        "n1:70:71 [0] NCCL INFO Connected",
        "17 apples",
    ]
    batches = read(*noise, HEADER, row(), *noise[:2])
    assert (records(batches), refused(batches)) == (2, [])


def document(**told: Any) -> dict[str, Any]:
    half = {"time": 1102.4, "alg_bw": 121.750479, "bus_bw": 106.531669, "nwrong": 0.0}
    device = {"rank": 0, "group": 0, "hostname": "n1", "device": 0}
    known = {
        "version": 1,
        "start_time": "2026-03-02 09:05:00",
        "args": ["./build/all_gather_perf", "--password", "hidden"],
        "env": ["TOKEN=hidden"],
        "nccl_version": 22809,
        "config": {"nthreads": 1, "ngpus": 8, "devices": [device]},
        "results": [
            {
                "size": 1 << 27,
                "count": 1 << 22,
                "type": "bfloat16",
                "redop": "none",
                "root": "    -1",
                "out_of_place": half,
                "in_place": half | {"nwrong": None},
            }
        ],
    }
    return known | told


def read_document(told: dict[str, Any] | bytes, **known: Any) -> list[Batch]:
    data = told if isinstance(told, bytes) else json.dumps(told).encode()
    assert SOURCE.recognizes(Head("out.json", data))
    return held(SOURCE.read(io.BytesIO(data), reading(**known)))


def test_a_document() -> None:
    batches = read_document(document(), zone=ZoneInfo("America/Denver"))
    out, back = rows(batches, BandwidthTests)
    assert (out["kind"], out["hosts"], out["ranks"]) == ("allgather", "n1", 8)
    assert (out["duration_ns"], out["busbw_gbs"]) == (1_102_400, 106.531669)
    assert (out["wrong_count"], back["wrong_count"]) == (0, None)
    assert (out["reduction"], out["root"]) == (None, None)
    # nine in the morning in Denver is four in the afternoon in UTC
    stamp = datetime.fromisoformat("2026-03-02T16:05:00+00:00")
    assert out["time_ns"] == int(stamp.timestamp()) * 10**9
    assert out["time_quality"] == "zone_assumed"


def test_nothing_of_the_environment_is_kept() -> None:
    broken = json.dumps(document(results=[{"size": "x", "in_place": {}}])).encode()
    batches = [*read_document(document()), *read_document(broken)]
    assert "hidden" not in repr([(b.refused, b.rows) for b in batches])
    with pytest.raises(UnreadableFileError) as caught:
        read_document(json.dumps(document()).encode()[:-40])
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    ("half", "rule"),
    [
        ({"time": "nan"}, "duration_ns|value"),
        ({"time": 1.0, "alg_bw": 5.0, "bus_bw": 5.0}, "algbw_gbs|value"),
        ({"time": 1e300}, "duration_ns|value"),
        ({"time": None}, "duration_ns|value"),
        ({}, "duration_ns|value"),
    ],
)
def test_results_that_are_refused(half: dict[str, Any], rule: str) -> None:
    result = document()["results"][0] | {"out_of_place": half}
    batches = read_document(document(results=[result]))
    assert refused(batches) == [("result 0", rule)]
    assert len(rows(batches, BandwidthTests)) == 1


@pytest.mark.parametrize("results", [None, [], [7], [{"size": 8}], {}])
def test_a_document_without_a_result(results: Any) -> None:
    assert refused(read_document(document(results=results))) == [
        ("file", "rows|required")
    ]


@pytest.mark.parametrize("config", [None, [], {"devices": 7}, {"ngpus": "8"}])
def test_a_document_that_tells_no_ranks(config: Any) -> None:
    (out, _) = rows(read_document(document(config=config)), BandwidthTests)
    assert (out["ranks"], out["hosts"]) == (None, None)


def test_real_console_output(shared: Path) -> None:
    # GIVEN an all-reduce of 16 ranks that srun printed, 29 sizes
    path = next((shared / "data" / "nccl").rglob("all_reduce_2x_p4de.log"))
    data = path.read_bytes()
    head = Head(path.name, data)
    assert next(s for s in SOURCES if s.recognizes(head)) is SOURCE
    batches = held(SOURCE.read(io.BytesIO(data), reading(name="any")))

    # THEN all are read, and bandwidths are those of 16 ranks, rounded
    found = rows(batches, BandwidthTests)
    assert (len(found), refused(batches)) == (58, [])
    assert {r["kind"] for r in found} == {"allreduce"}
    last = found[-2]
    assert (last["bytes_total"], last["duration_ns"]) == (1 << 31, 51_406_000)
    assert last["busbw_gbs"] == 78.33
    for one in found:
        algbw = one["bytes_total"] / one["duration_ns"]
        assert one["algbw_gbs"] == pytest.approx(algbw, abs=0.006)
        assert one["busbw_gbs"] == pytest.approx(algbw * 1.875, abs=0.011)


@settings(max_examples=examples(50))
@given(
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 9999), st.integers(0, 255)), max_size=8),
)
def test_changed_bytes_are_rows_or_refusals(
    is_document: bool, changes: list[tuple[int, int]]
) -> None:
    text = json.dumps(document()) if is_document else "\n".join([HEADER, row(), row()])
    data = bytearray(text.encode())
    for at, byte in changes:
        data[at % len(data)] = byte
    try:
        batches = held(SOURCE.read(io.BytesIO(bytes(data)), reading()))
    except UnreadableFileError:
        return
    seen = len(rows(batches, BandwidthTests))
    assert records(batches) == seen + len(refused(batches))
