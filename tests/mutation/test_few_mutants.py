"""A few damaged copies of every sample, each time: the proof of many is `make mutants`.

They are other copies than those of the proof, and all of them go into one lake.
"""

from pathlib import Path

import polars as pl
import pytest

from ingest import files
from ingest.sources import SOURCES
from ingest.staging import Candidate, stage
from ingest.tables import IngestedFiles, RejectedRows
from tests.ingest.tiny import candidate, rows
from tests.mutation.hold import assert_no_fault
from tests.mutation.mutants import mutants
from tests.mutation.test_mutants import SAMPLES

pytestmark = pytest.mark.thorough

#: Damaged copies of each sample. [1]
COPIES = 3


def copies(sample: Path, folder: Path) -> list[Candidate]:
    source = files.recognize(files.head_of(sample), SOURCES)
    found = []
    few = mutants(sample.read_bytes(), f"few {sample.name}", COPIES)
    for name, data in few:
        path = folder / f"{sample.name}-{name}{sample.suffix}"
        path.write_bytes(data)
        files.recognize(files.head_of(path), SOURCES)
        found.append(candidate(path, source=source))
    return found


def test_a_few_damaged_copies_are_answered(tmp_path: Path) -> None:
    every = [copy for sample in SAMPLES for copy in copies(sample, tmp_path)]
    known = {copy.reading.file_id: copy for copy in every}
    staged = stage(tmp_path, list(known.values()))
    assert_no_fault(rows(tmp_path, staged, RejectedRows))
    told = staged.files
    kept = pl.sum_horizontal(
        IngestedFiles.rows_accepted.col,
        IngestedFiles.rows_rejected.col,
        IngestedFiles.rows_retired.col,
    )
    assert told.height == len(known) > len(SAMPLES)
    assert told.filter(IngestedFiles.rows_read.col != kept).is_empty()
