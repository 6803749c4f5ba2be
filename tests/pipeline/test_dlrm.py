"""The eight ranks of DLRM: the values that three implementations agree on."""

from typing import TYPE_CHECKING

import pytest

pytestmark = pytest.mark.thorough

if TYPE_CHECKING:
    from tests.pipeline.conftest import Job

#: Overlap of communication by rank, to the digits published. [%]
OVERLAP_PERCENT = (4.5016, 2.4700, 7.8751, 3.3149, 0.5617, 0.6399, 7.5604, 9.5074)

#: Exposed communication by rank. [us]
EXPOSED_US = (5537, 11056, 3217, 9450, 6550, 6211, 3289, 1580)


def test_every_rank_is_read(dlrm: "Job") -> None:
    assert dlrm.code == 0
    files = dlrm.sql("SELECT * FROM ingested_files")
    assert files.height == 8
    assert files["rows_rejected"].sum() == 0


def test_overlap_to_the_printed_digits(dlrm: "Job") -> None:
    rows = dlrm.sql(
        "SELECT rank, overlap_ratio, exposed_communication_ns FROM overlap"
        " WHERE step IS NULL ORDER BY rank"
    )
    assert rows["rank"].to_list() == list(range(8))
    percent = [round(100 * value, 4) for value in rows["overlap_ratio"]]
    assert percent == pytest.approx(OVERLAP_PERCENT, abs=1e-9)
    assert rows["exposed_communication_ns"].to_list() == [
        us * 1000 for us in EXPOSED_US
    ]


def test_rank_7_is_late_and_rank_2_is_not(dlrm: "Job") -> None:
    rows = dlrm.sql("SELECT rank FROM late_ranks WHERE is_late")
    assert rows["rank"].to_list() == [7]


def test_the_ledger_adds_up(dlrm: "Job") -> None:
    paid = dlrm.sql("SELECT sum(to_ns - from_ns) AS ns FROM allocations")
    split = dlrm.sql("SELECT sum(gpu_ns) AS ns FROM lost_time")
    assert int(paid["ns"][0]) == int(split["ns"][0]) > 0
