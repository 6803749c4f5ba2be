"""Several tables in one file of nccl-tests: each is read, or its rows are refused."""

from ingest.sources import Batch, nccl_tests
from ingest.sources._nccl.tests_console import HEADERLESS
from ingest.tables import BandwidthTests
from tests.ingest.readings import held, read_lines, records, refused, rows

HEADER = "#  size  count  type  redop  root  time  algbw  busbw  #wrong"
ROWS = (
    "  1000000  250000  float  sum  -1  100.0  10.00  18.75  0",
    "  2000000  500000  float  sum  -1  160.0  12.50  23.44  0",
)
ENDS = (
    "# Out of bounds values : 0 OK",
    "# Avg bus bandwidth    : 21.1",
    "#",
    "# Collective test concluded: all_reduce_perf",
)


def read(*lines: str) -> list[Batch]:
    return held(read_lines(nccl_tests.SOURCE, *lines))


def test_every_table_of_a_file_is_read() -> None:
    # GIVEN two logs, one after the other, of 16 ranks and of 2
    ranks = [f"#  Rank {n} Group 0 Pid 7 on n device {n} [0] H100" for n in range(16)]
    pair = [row.replace("18.75", "10.00").replace("23.44", "12.50") for row in ROWS]
    first = ("# nThread 1", *ranks, HEADER, *ROWS, *ENDS)
    second = ("# nThread 1", *ranks[:2], HEADER, *pair, *ENDS)
    found = rows(read(*first, *second), BandwidthTests)

    # THEN each row is of its own test
    assert [row["position"] for row in found] == [0, 1, 2, 3]
    assert [row["ranks"] for row in found] == [16, 16, 2, 2]


def test_rows_behind_a_summary_are_read_by_the_header_before() -> None:
    batches = read(HEADER, *ROWS, *ENDS, *ROWS)
    assert len(rows(batches, BandwidthTests)) == 4
    assert refused(batches) == []


def test_rows_that_no_header_fits_are_refused() -> None:
    # GIVEN rows of both halves, before any table and behind one of one half
    wide = f"{ROWS[0]}  100.0  10.00  18.75  0"
    batches = read(wide, HEADER, *ROWS, *ENDS, wide, "12 34 lines of another program")

    # THEN they are counted, and what is no row is not
    assert refused(batches) == [("line 1", HEADERLESS), ("line 9", HEADERLESS)]
    assert records(batches) == 4
    assert all(refusal.hint for batch in batches for refusal in batch.refused)
