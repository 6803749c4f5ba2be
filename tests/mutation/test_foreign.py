"""Every source reads files of every other: it refuses them, and never fails."""

from pathlib import Path

import pytest

from ingest import files
from ingest.sources import SOURCES, Source
from tests.ingest.tiny import candidate, content, ingest
from tests.mutation.hold import assert_held
from tests.mutation.test_mutants import SAMPLES


@pytest.mark.mutation
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_files_of_other_formats_are_answered(source: Source, tmp_path: Path) -> None:
    # GIVEN the samples that the source does not recognize
    others = [
        candidate(path, source=source)
        for path in SAMPLES
        if files.recognize(files.head_of(path), SOURCES) is not source
    ]

    # WHEN it is to read them all the same
    ingest(tmp_path, others)

    # THEN every row is accounted for, and every file has its line
    assert_held(tmp_path)
    assert content(tmp_path)["ingested_files"].height == len(others)
