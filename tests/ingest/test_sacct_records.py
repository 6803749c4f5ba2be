"""Records of sacct: over several lines, refused, with node lists that explode."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import UnreadableFileError
from ingest.sources import sacct
from ingest.sources._slurm.sacct_hosts import expand
from ingest.sources._source import Batch, Head
from ingest.tables import Jobs
from tests.ingest.readings import held, read_lines, refused, rows

HEADER = "JobID|JobName|State|Start|End"
TIMES = "2025-01-01T00:00:00|2025-01-01T01:00:00"


def batches_of(*lines: str) -> list[Batch]:
    return read_lines(sacct.SOURCE, *lines)


def rows_of(batches: list[Batch]) -> list[dict[str, Any]]:
    return rows(held(batches), Jobs)


def test_records_over_several_lines_are_joined() -> None:
    batches = batches_of(
        "JobID|#Comment|#State",
        "1|#one line|#FAILED",
        "2|#two",
        "lines|with a bar|#TIMEOUT",
        "3|#x|#COMPLETED",
    )
    rows = rows_of(batches)
    assert [(r["job_id"], r["place"]) for r in rows] == [
        ("1", "line 2"),
        ("2", "line 3"),
        ("3", "line 5"),
    ]
    assert sum(batch.repairs for batch in batches) == 1


def test_what_fits_no_record_is_refused() -> None:
    batches = batches_of(
        HEADER,
        "half a line",
        f"1|a|FAILED|{TIMES}",
        f"2|a|b|c|FAILED|{TIMES}",
        f"|a|FAILED|{TIMES}",
        f"3|a||{TIMES}",
        "4|a|FAILED|yesterday|Unknown",
        "5|a|FAILED|2025-01-01T00:00:00|2025-02-30T00:00:00",
        "end",
    )
    assert [r["job_id"] for r in rows_of(batches)] == ["1"]
    assert sorted(refused(batches)) == [
        ("line 2", "field_count"),
        ("line 4", "field_count"),
        ("line 5", "job_id_missing"),
        ("line 6", "state_missing"),
        ("line 7", "time"),
        ("line 8", "time"),
        ("line 9", "field_count"),
    ]
    assert sum(batch.records for batch in batches) == 8


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("node-[01-03,7]", "node-01,node-02,node-03,node-7"),
        ("a1,b[2-3]c[1-2]", "a1,b2c1,b2c2,b3c1,b3c2"),
        ("n[0-99999][0-99999]", None),
        (",".join(f"{c}[0-99999]" for c in "abcdefgh"), None),
        ("n" + "[1]" * 500, None),
        ("n[1-", None),
        ("n[" + "9" * 5_000 + "]", None),
        ("n[3-1]", None),
        ("two words", None),
    ],
    ids=range(9),
)
def test_node_lists_cannot_explode(text: str, nodes: str | None) -> None:
    assert expand(text) == nodes


def test_a_bad_node_list_is_refused() -> None:
    batches = batches_of(
        "JobID|State|NodeList", "1|FAILED|n[1-", "2|FAILED|None assigned"
    )
    assert refused(batches) == [("line 2", "node_list")]
    assert [r["hosts"] for r in rows_of(batches)] == [None]


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("JobID|State\n1|FAILED\n", True),
        ("State|#End|#JobIDRaw\n", True),
        ("JOBID|STATE\n", False),
        ("id,State\n", False),
        ("", False),
    ],
)
def test_recognized_by_its_header(text: str, known: bool) -> None:
    assert sacct.recognizes(Head("anything", text.encode())) is known


def test_a_file_without_a_header_says_how_to_write_one() -> None:
    with pytest.raises(UnreadableFileError, match="line 1: expected names of sacct"):
        batches_of("1|FAILED")


@settings(deadline=None, max_examples=25)
@given(st.lists(st.text(alphabet="|1.ab \n#", max_size=12), max_size=8))
def test_every_line_is_a_row_a_step_or_refused(lines: list[str]) -> None:
    batches = batches_of("JobID|JobName|State", *lines)
    steps = sum(batch.records for batch in batches)
    assert steps >= len(rows_of(batches)) + len(refused(batches))
