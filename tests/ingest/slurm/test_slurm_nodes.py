"""Nodes of sinfo and scontrol: states, reasons, times, aligned and parted cells."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ingest.sources import Source, scontrol, sinfo
from ingest.sources._slurm import nodes
from ingest.sources._source import Batch, Head
from ingest.tables import Failures
from ingest.times import SECOND_NS, parse_zone
from tests.ingest.readings import held, read_lines, records, refused, rows

AT = "2026-03-01T22:46:00"
AT_NS = int(datetime(2026, 3, 1, 22, 46, tzinfo=UTC).timestamp()) * SECOND_NS


def batches_of(source: Source, *lines: str, **told: Any) -> list[Batch]:
    return held(read_lines(source, *lines, **told))


def of_sinfo(*lines: str, **told: Any) -> list[dict[str, Any]]:
    return rows(batches_of(sinfo.SOURCE, *lines, **told), Failures)


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("idle", None),
        ("alloc", None),
        ("mix-", None),
        ("maint", None),
        ("POWERED_DOWN", None),
        ("idle~", None),
        ("down", "node_down"),
        ("down*", "node_down"),
        ("DOWN*+DRAIN", "node_down"),
        ("drng", "node_drain"),
        ("drained*", "node_drain"),
        ("IDLE+DRAIN", "node_drain"),
        ("MIXED+DRAIN+NOT_RESPONDING", "node_drain"),
        ("IDLE+DRAIN+INVALID_REG", "node_invalid"),
        ("inval", "node_invalid"),
        ("FAIL", "node_fail"),
        ("failg", "node_fail"),
        ("idle*", "node_not_responding"),
        ("IDLE+NOT_RESPONDING", "node_not_responding"),
    ],
)
def test_states_and_their_codes(state: str, code: str | None) -> None:
    told = of_sinfo("NODELIST|STATE|REASON|TIMESTAMP", f"n1|{state}|x|{AT}")
    assert [row["code"] for row in told] == ([] if code is None else [code])


@pytest.mark.parametrize(
    ("reason", "component", "severity"),
    [
        ("Xid 79", "gpu", "warning"),
        ("gres/gpu count reported lower than configured (7 < 8)", "gpu", "warning"),
        ("IB port mlx5_3 is down", "network", "warning"),
        ("Low RealMemory", "memory", "warning"),
        ("Kill task failed", "software", "warning"),
        ("Prolog error", "software", "warning"),
        ("replace", "host", "warning"),
        ("firmware upgrade", "host", "info"),
        ("Maintenance window", "host", "info"),
    ],
)
def test_reasons_and_their_components(
    reason: str, component: str, severity: str
) -> None:
    (row,) = of_sinfo("NODELIST|STATE|REASON|TIMESTAMP", f"n1|drained|{reason}|{AT}")
    assert (row["component"], row["severity"]) == (component, severity)
    assert row["message"] == f"State=drained Reason={reason}"


def test_reasons_alone_and_what_is_inferred_from_them() -> None:
    told = of_sinfo(
        "REASON               USER      TIMESTAMP           NODELIST",
        f"Not responding       slurm     {AT} n[1-2]",
        f"a  reason of 20 char ops       {AT} n3",
        f"                     root      {AT} n4",
    )
    assert [(row["host"], row["code"], row["inferred"]) for row in told] == [
        ("n1", "node_down", True),
        ("n2", "node_down", True),
        ("n3", "node_drain", True),
    ]
    assert {row["time_ns"] for row in told} == {AT_NS}
    assert told[2]["message"] == "Reason=a  reason of 20 char"


def test_cells_that_blanks_align_under_a_date() -> None:
    batches = batches_of(
        sinfo.SOURCE,
        "Sun Mar 01 22:46:00 2026",
        "NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY REASON",
        "n1             1      gpu*       idle  96     2:48:1 2000000 none",
        "n2             1      gpu*       down* 96     2:48:1 2000000 Not responding",
        "n2             1     debug       down* 96     2:48:1 2000000 Not responding",
        "n3 1",
    )
    (row,) = rows(batches, Failures)
    assert (row["host"], row["code"]) == ("n2", "node_down")
    assert (row["time_ns"], row["time_quality"]) == (None, "unknown")
    assert refused(batches) == [("line 6", "cell_count")]
    assert records(batches) == 6


def test_times_need_the_zone() -> None:
    lines = ("NODELIST|STATE|TIMESTAMP", f"n1|down|{AT}", "n2|down|Unknown")
    one, other = of_sinfo(*lines, zone=parse_zone("+01:00"), zone_basis="option")
    assert one["time_ns"] == AT_NS - 3_600 * SECOND_NS
    assert (one["time_quality"], other["time_quality"]) == ("exact", "unknown")
    (row,) = of_sinfo(*lines[:2])
    assert row["time_quality"] == "zone_assumed"


def test_a_list_that_is_none_is_refused() -> None:
    batches = batches_of(
        sinfo.SOURCE, "NODELIST|STATE", "n[1-|down", "n[1-99999999]|down"
    )
    assert refused(batches) == [("line 2", "node_list"), ("line 3", "node_list")]


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST", True),
        ("NODELIST|STATE", True),
        ("HOSTNAMES,REASON,TIMESTAMP", True),
        ("PARTITION AVAIL  TIMELIMIT   NODES(A/I/O/T) NODELIST", False),
        ("JOBID|STATE|NODELIST", False),
        ("node01 |gpu:8 |idle", False),
        ("nodelist|state", False),
    ],
)
def test_known_by_its_header(text: str, known: bool) -> None:
    assert sinfo.recognizes(Head("x", f"{text}\n".encode())) is known


def test_nodes_of_scontrol_on_one_line_or_several() -> None:
    text = (
        "NodeName=n1 Arch=x86_64 CPUAlloc=0 CPUTot=96",
        "   State=DOWN*+DRAIN ThreadsPerCore=1 Owner=N/A",
        f"   Reason=Not responding [slurm@{AT}]",
        "",
        "NodeName=n2 CPUAlloc=0 CPUTot=96 State=IDLE Weight=1",
        f"NodeName=n3 CPUAlloc=0 State=IDLE+DRAIN Reason=Xid 79 [root@{AT}] Comment=b",
    )
    batches = batches_of(scontrol.SOURCE, *text)
    told = rows(batches, Failures)
    assert [(row["host"], row["code"], row["place"]) for row in told] == [
        ("n1", "node_down", "line 1"),
        ("n3", "node_drain", "line 6"),
    ]
    assert told[1]["message"] == "State=IDLE+DRAIN Reason=Xid 79"
    assert {row["time_ns"] for row in told} == {AT_NS}
    assert records(batches) == 3
    assert scontrol.recognizes(Head("x", "\n".join(text).encode()))


@pytest.mark.parametrize(
    "text",
    [
        "NodeName=n[1-8] CPUs=96 Gres=gpu:8 State=UNKNOWN",
        "NodeName=n1 Name=gpu File=/dev/nvidia0",
        "PartitionName=gpu Nodes=ALL Default=YES State=UP",
        "Configuration data as of 2026-03-01T22:46:00",
        "JobId=x",
    ],
)
def test_slurms_own_settings_are_no_listing(text: str) -> None:
    assert not scontrol.recognizes(Head("slurm.conf", text.encode()))


def test_a_header_of_too_many_names_is_none() -> None:
    names = " ".join(["NODELIST", "STATE", *(f"A{n}" for n in range(5_000))])
    assert not sinfo.recognizes(Head("x", names.encode()))


def test_records_of_a_block_share_a_number_of_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nodes, "BLOCK_ROWS", 5)
    lines = (f"{listed}|drained|x|{AT}" for listed in ("n[1-3]", "m", "n[1-3]"))
    batches = batches_of(sinfo.SOURCE, "NODELIST|STATE|REASON|TIMESTAMP", *lines)
    found = sorted(row["host"] for row in rows(batches, Failures))
    assert found == ["m", "n1", "n2", "n3"]
    assert refused(batches) == [("line 4", "node_list")]
