"""Logs of slurmctld and slurmd: stamps of every kind, and what is no such log."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ingest.sources import slurmctld
from ingest.sources._source import Batch, Head
from ingest.tables import Failures
from ingest.times import SECOND_NS, parse_zone
from tests.ingest.readings import held, read_lines, refused, rows

AT = "[2026-03-01T22:46:00.123]"
AT_NS = int(datetime(2026, 3, 1, 22, 46, tzinfo=UTC).timestamp()) * SECOND_NS


def batches_of(*lines: str, **told: Any) -> list[Batch]:
    return held(read_lines(slurmctld.SOURCE, *lines, **told))


def rows_of(*lines: str, **told: Any) -> list[dict[str, Any]]:
    return rows(batches_of(*lines, **told), Failures)


@pytest.mark.parametrize(
    ("prefix", "quality"),
    [
        ("[2026-03-01T22:46:00] ", "zone_assumed"),
        ("[2026-03-01T23:46:00.000+01:00] ", "exact"),
        ("slurmctld: [2026-03-01T22:46:00.000] ", "zone_assumed"),
        ("Mar  1 22:46:00 ctl slurmctld[48]: slurmctld: ", "year_inferred"),
        ("2026-03-01T23:46:00+0100 ctl slurmctld[48]: slurmctld: ", "exact"),
        ("slurmctld: ", "unknown"),
    ],
)
def test_stamps_of_every_kind(prefix: str, quality: str) -> None:
    line = f"{prefix}error: Nodes n1 not responding"
    (row,) = rows_of(line, modified_ns=AT_NS + SECOND_NS)
    assert (row["host"], row["time_quality"]) == ("n1", quality)
    assert row["time_ns"] == (None if quality == "unknown" else AT_NS)
    assert slurmctld.recognizes(Head("x", f"{line}\n".encode()))


def test_the_journal_tells_the_node_of_a_daemon() -> None:
    (row,) = rows_of("2026-03-01T22:46:00+00:00 gpu07 slurmd[8]: error: prolog failed")
    assert row["host"] == "gpu07"
    (row,) = rows_of("2026-03-01T22:46:00+00:00 ctl slurmctld[8]: error: prolog failed")
    assert row["host"] is None


def test_what_is_no_time_or_no_list_is_refused() -> None:
    batches = batches_of(
        "[2026-02-30T22:46:00] error: Nodes n1 not responding",
        f"{AT} error: Nodes n[1- not responding",
        "[2026-03-29T02:30:00] error: Nodes n1 not responding",
        f"{AT} error: Nodes n1 not responding",
        zone=parse_zone("Europe/Berlin"),
    )
    assert len(rows(batches, Failures)) == 1
    assert sorted(refused(batches)) == [
        ("line 1", "time"),
        ("line 2", "node_list"),
        ("line 3", "time"),
    ]


@pytest.mark.parametrize(
    ("lines", "known"),
    [
        ([f"{AT} slurmctld version 24.05.4 started on cluster pod"], True),
        ([f"{AT} [48.batch] done with job", f"{AT} error: x"], True),
        (["Mar  1 22:46:00 n1 slurmd[8]: launch task"], True),
        ([f"{AT} step 1 loss 2.0"], False),
        ([f"{AT} error: Nodes n1 not responding", "a", "b"], False),
        (["Mar  1 22:46:00 n1 kernel: x", "Mar  1 22:46:00 n1 slurmd[8]: x"], False),
        (["2026-03-01T22:46:00 loss=1"], False),
        ([], False),
    ],
)
def test_known_by_its_lines(lines: list[str], known: bool) -> None:
    assert slurmctld.recognizes(Head("x", "\n".join(lines).encode())) is known
