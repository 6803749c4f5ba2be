"""Every format has a small sample that is read whole and fills all that it declares."""

from pathlib import Path

import pytest

from ingest import files
from ingest.lake import snapshot
from ingest.sources import SOURCES, Format, Source
from ingest.tables import RejectedRows
from tests.ingest.tiny import assert_accounted, candidate, ingest

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces" / "formats"

FORMATS = [(source, one) for source in SOURCES for one in source.formats]


def folder_of(source: Source, one: Format) -> Path:
    """Folder of a format's samples; the lines of a mixed file have one each, too."""
    return SAMPLES / (f"{source.name}-{one.name}" if source.mixed else one.name)


@pytest.mark.parametrize(
    ("source", "one"), FORMATS, ids=[f"{s.name}-{f.name}" for s, f in FORMATS]
)
def test_the_sample_of_a_format_is_read_whole(
    source: Source, one: Format, tmp_path: Path
) -> None:
    # GIVEN the samples of a format
    paths = sorted(path for path in folder_of(source, one).iterdir() if path.is_file())
    assert paths

    # WHEN they are recognized and read
    assert {files.recognize(files.head_of(path), SOURCES) for path in paths} == {source}
    ingest(tmp_path / "lake", [candidate(path, source=source) for path in paths])

    # THEN nothing is refused, and there are rows of every table of the format
    assert_accounted(tmp_path / "lake")
    lake = snapshot(tmp_path / "lake")
    refused = lake.scan(RejectedRows).select("place", "rule", "raw").collect()
    assert refused.is_empty(), refused
    for table in one.tables:
        assert lake.scan(table).head(1).collect().height, table.sql_name()


def test_no_two_formats_share_a_name() -> None:
    names = [one.name for _, one in FORMATS]
    assert len(set(names)) == len(names)


def test_every_folder_is_of_a_format() -> None:
    folders = {path for path in SAMPLES.iterdir() if path.is_dir()}
    assert folders == {folder_of(source, one) for source, one in FORMATS}
