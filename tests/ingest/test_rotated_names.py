"""Names of logs that were rotated, and of files whose number means something else."""

import pytest

from ingest._names import unrotated


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("node-01.smi.csv.1", "node-01.smi.csv"),
        ("node-01.kern.log.12", "node-01.kern.log"),
        ("node-01.kern.log-20260302", "node-01.kern.log"),
        ("node-01.kern.log-20260302-1700000000", "node-01.kern.log"),
        ("a.jsonl.3", "a.jsonl"),
        # the number of a rank, of a process, of a host
        ("nccl_trace_rank_.7", "nccl_trace_rank_.7"),
        ("trace.json.4711", "trace.json.4711"),
        ("node.3", "node.3"),
        ("a.csv", "a.csv"),
    ],
)
def test_a_rotation_is_no_part_of_a_name(name: str, before: str) -> None:
    assert unrotated(name) == before
