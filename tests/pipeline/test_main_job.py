"""The main job on one folder that holds real files of every kind."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from pipeline.cli import run_tokens

pytestmark = pytest.mark.thorough

if TYPE_CHECKING:
    from tests.pipeline.conftest import Job

#: States of the 306 jobs of the sample; its 880 steps are not jobs.
STATES = {
    "FAILED": 259,
    "CANCELLED": 24,
    "COMPLETED": 18,
    "REQUEUED": 2,
    "OUT_OF_MEMORY": 2,
    "TIMEOUT": 1,
}


def test_every_file_is_ingested_or_refused_by_name(mixed: "Job") -> None:
    files = mixed.sql("SELECT path, source, rows_read FROM ingested_files")
    on_disk = {str(p.resolve()) for p in mixed.inbox.rglob("*") if p.is_file()}
    assert set(files["path"]) == on_disk
    assert "unrecognized" not in set(files["source"])
    assert set(files["source"]) == {
        "kineto",
        "torchtitan",
        "kernel-log",
        "sacct",
        "nvidia-smi",
        "dcgm-exporter",
        "run-card",
    }


def test_rows_read_are_accounted_for(mixed: "Job") -> None:
    wrong = mixed.sql(
        "SELECT * FROM ingested_files WHERE rows_read"
        " <> rows_accepted + rows_rejected + rows_retired"
    )
    assert wrong.is_empty()


def test_rows_accepted_are_the_rows_there_are(mixed: "Job") -> None:
    tables = mixed.sql(
        "SELECT DISTINCT table_name FROM duckdb_columns() WHERE column_name = 'file_id'"
    )["table_name"]
    counted: dict[str, int] = {}
    for name in tables:
        if name in {"ingested_files", "rejected_rows"}:
            continue
        rows = mixed.sql(f'SELECT file_id, count(*) n FROM "{name}" GROUP BY 1')
        for file_id, count in rows.iter_rows():
            counted[file_id] = counted.get(file_id, 0) + count
    said = mixed.sql("SELECT file_id, rows_accepted FROM ingested_files")
    assert {k: v for k, v in said.iter_rows() if v} == counted
    refused = mixed.sql("SELECT file_id, count(*) n FROM rejected_rows GROUP BY 1")
    noted = mixed.sql("SELECT file_id, rows_rejected FROM ingested_files")
    assert {k: v for k, v in noted.iter_rows() if v} == dict(refused.iter_rows())


def test_jobs_are_jobs(mixed: "Job") -> None:
    rows = mixed.sql("SELECT state, count(*) AS n FROM jobs GROUP BY 1")
    assert dict(rows.iter_rows()) == STATES


def test_every_xid_line_is_a_failure(mixed: "Job") -> None:
    rows = mixed.sql(
        "SELECT source, count(*) AS n FROM failures"
        " WHERE source IN ('xid', 'sxid') AND NOT inferred GROUP BY 1"
    )
    assert dict(rows.iter_rows()) == {"xid": 69, "sxid": 9}


def test_energy_of_the_a100_is_what_the_meter_says(mixed: "Job") -> None:
    # between the outer stamps of timestamps.csv [us since the epoch]; the external
    # meter measured 1,024.72 J, the trapezoid over these samples gives 1,024.87 J
    rows = mixed.sql(
        """
        WITH samples AS (
            SELECT time_ns AS t, power_average_w AS w,
                lead(time_ns) OVER (ORDER BY time_ns) AS t2,
                lead(power_average_w) OVER (ORDER BY time_ns) AS w2
            FROM power_samples JOIN ingested_files USING (file_id)
            WHERE source = 'nvidia-smi'
        ), cut AS (
            SELECT *, greatest(t, 1689325967982958000) AS a,
                least(t2, 1689325975912681000) AS b
            FROM samples
        )
        SELECT sum((b - a) / 1e9 * (
            (w + (w2 - w) * (a - t) / (t2 - t)) + (w + (w2 - w) * (b - t) / (t2 - t))
        ) / 2) AS joules FROM cut WHERE b > a
        """
    )
    assert rows["joules"][0] == pytest.approx(1024.9, rel=1e-3)


def test_the_zone_of_the_card_is_used(mixed: "Job") -> None:
    rows = mixed.sql(
        "SELECT first_ns, zone_basis FROM ingested_files WHERE source = 'nvidia-smi'"
    )
    first = datetime(2023, 7, 14, 9, 12, 46, tzinfo=UTC).timestamp()
    assert rows["first_ns"][0] // 10**9 == first
    assert rows["zone_basis"][0] == "run_card"


def test_the_second_time_adds_nothing_and_says_so(
    mixed: "Job", capsys: pytest.CaptureFixture[str]
) -> None:
    query = "SELECT file_id, ingested_ns FROM ingested_files ORDER BY 1"
    before = mixed.sql(query)
    assert run_tokens(["ingest", str(mixed.inbox), "--lake", str(mixed.lake)]) == 0
    assert capsys.readouterr().out.startswith("nothing new: 15 files are in the lake")
    assert mixed.sql(query).equals(before)


def test_every_figure_of_the_report_can_be_asked_for(mixed: "Job") -> None:
    html = (mixed.lake / "report.html").read_text(encoding="utf-8")
    assert "<h1" in html
