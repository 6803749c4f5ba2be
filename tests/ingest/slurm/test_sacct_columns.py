"""sacct in columns, of several listings, and what its fields say of times and GPUs."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ingest.sources import sacct
from ingest.sources._source import Batch, Head
from ingest.tables import Jobs
from ingest.times import SECOND_NS
from tests.ingest.readings import held, read_lines, refused, rows

START = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp()) * SECOND_NS
HOUR = 3_600 * SECOND_NS


def line(*cells: str) -> str:
    """Return a line in the columns that sacct writes."""
    job, *others = cells
    widths = (10, 10, 8, 19, 15)
    rest = (f"{cell:>{width}}" for cell, width in zip(others, widths, strict=True))
    return f"{job:<12} {' '.join(rest)} "


AT = "2026-03-01T00:00:00"
COLUMNS = (
    line("JobID", "JobName", "State", "ExitCode", "Start", "NodeList"),
    line("-" * 12, "-" * 10, "-" * 10, "-" * 8, "-" * 19, "-" * 15),
)


def batches_of(*lines: str) -> list[Batch]:
    return read_lines(sacct.SOURCE, *lines)


def rows_of(*lines: str) -> list[dict[str, Any]]:
    return rows(held(batches_of(*lines)), Jobs)


def test_columns_of_fixed_width() -> None:
    told = rows_of(
        *COLUMNS,
        line("48", "a job+", "CANCELLED+", "0:9", AT, "node03"),
        line("48.batch", "batch", "CANCELLED", "0:15", AT, "node03"),
        *COLUMNS,
        line("49_[1-3]", "näme", "OUT_OF_ME+", "0:125", "Unknown", "None assigned"),
    )
    assert [(r["job_id"], r["state"], r["job_name"]) for r in told] == [
        ("48", "CANCELLED", "a job+"),
        ("49_[1-3]", "OUT_OF_MEMORY", "näme"),
    ]
    assert (told[0]["exit_signal"], told[0]["hosts"]) == (9, "node03")
    assert (told[0]["start_ns"], told[1]["start_ns"]) == (START, None)


def test_cells_that_are_cut_are_no_identities() -> None:
    batches = batches_of(
        *COLUMNS,
        line("8012944_240+", "a", "FAILED", "1:0", AT, "node03"),
        line("48", "a", "FAILED", "1:0", AT, "node[01-04,06-+"),
        line("49", "abcdefghijklm", "FAILED", "1:0", AT, "node03"),
        line("50", "a", "FAILED", "1:0", AT, "node03"),
    )
    assert [r["job_id"] for r in rows(held(batches), Jobs)] == ["50"]
    assert sorted(refused(batches)) == [
        ("line 3", "job_id_cut"),
        ("line 4", "node_list"),
        ("line 5", "column_width"),
    ]
    hints = {r.rule: r.hint for batch in batches for r in batch.refused}
    assert "--parsable2" in str(hints["job_id_cut"])


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("\n".join(COLUMNS), True),
        (COLUMNS[0], False),
        (f"{COLUMNS[0]}\n48 a FAILED", False),
        ("JobID  Other\n------ -----", False),
        ("State  JobID\n------ -----", False),
    ],
)
def test_columns_are_known_by_their_dashes(text: str, known: bool) -> None:
    assert sacct.recognizes(Head("x", text.encode())) is known


def test_a_listing_may_change_its_header() -> None:
    told = rows_of(
        "JobID|State|JobName",
        "1|FAILED|a",
        "JobID|State|JobName",
        "2|FAILED|b",
        "State|JobID|JobName",
        "TIMEOUT|3|c",
        "JobID|#State",
        "4|#COMPLETED",
    )
    assert [(r["job_id"], r["state"], r["job_name"]) for r in told] == [
        ("1", "FAILED", "a"),
        ("2", "FAILED", "b"),
        ("3", "TIMEOUT", "c"),
        ("4", "COMPLETED", None),
    ]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("01:00", 60),
        ("00:23.779", 23),
        ("02:00:00", 7_200),
        ("3-00:00:01", 259_201),
        ("INVALID", None),
        ("UNLIMITED", None),
        ("", None),
    ],
)
def test_an_elapsed_time_tells_the_end_where_there_is_no_other(
    text: str, seconds: int | None
) -> None:
    (row,) = rows_of("JobID|State|Start|Elapsed", f"1|FAILED|{AT}|{text}")
    assert row["end_ns"] == (None if seconds is None else START + seconds * SECOND_NS)
    (row,) = rows_of("JobID|State|End|ElapsedRaw", "1|FAILED|2026-03-01T01:00:00|3600")
    assert row["start_ns"] == START


@pytest.mark.parametrize(
    ("state", "start", "end"),
    [
        ("RUNNING", START, None),
        ("SUSPENDED", START, None),
        ("PENDING", None, None),
        ("COMPLETING", START, START + HOUR),
    ],
)
def test_forecasts_are_no_times(state: str, start: int | None, end: int | None) -> None:
    told = f"1|{state}|{AT}|2026-03-01T01:00:00"
    (row,) = rows_of("JobID|State|Start|End", told)
    assert (row["start_ns"], row["end_ns"]) == (start, end)


@pytest.mark.parametrize(
    ("stamp", "quality"),
    [
        ("2026-03-01T00:00:00", "zone_assumed"),
        ("2026-03-01T01:00:00+0100", "exact"),
        ("2026-02-28T19:00:00-05:00", "exact"),
        (str(START // SECOND_NS), "exact"),
    ],
)
def test_stamps_with_an_offset_or_since_the_epoch(stamp: str, quality: str) -> None:
    (row,) = rows_of("JobID|State|Start", f"1|FAILED|{stamp}")
    assert (row["start_ns"], row["time_quality"]) == (START, quality)


@pytest.mark.parametrize(
    ("field", "text", "count"),
    [
        ("AllocTRES", "billing=1,gres/gpu=8,node=2", 8),
        ("AllocTRES", "gres/gpu:h100=8,gres/gpu=8", 8),
        ("AllocTRES", "gres/gpu:a100=2,gres/gpu:h100=4", 6),
        ("AllocTRES", "cpu=4,gres/gpumem=80G,gres/gpuutil=9", None),
        ("AllocTRES", "gres/gpu:8", 8),
        ("AllocTRES", "gres/gpu:a100:2,gres/gpu:h100:4", 6),
        ("ReqTRES", "cpu=4,gres/gpu=16", 16),
        ("AllocGRES", "gpu:16", 16),
        ("AllocGRES", "gpu:volta:16", 16),
        ("AllocGRES", "gpu:volta:2(IDX:0-1),gpu:h100:4", 6),
        ("AllocGRES", "0", None),
        ("ReqGRES", "PER_NODE:gpu:8", 16),
        ("ReqGRES", "PER_NODE:gpu:volta:4,craynetwork:1", 8),
        ("ReqGRES", "PER_JOB:gpu:8", None),
    ],
)
def test_gpus_in_every_spelling(field: str, text: str, count: int | None) -> None:
    (row,) = rows_of(f"JobID|State|NNodes|{field}", f"1|FAILED|2|{text}")
    assert row["gpu_count"] == count
