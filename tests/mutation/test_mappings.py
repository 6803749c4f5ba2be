"""Damaged mappings, and damaged files that a mapping reads."""

import io
import json
from pathlib import Path

import polars as pl
import pytest

from ingest import files, mapping
from ingest.errors import SettingError
from ingest.sources import Source
from tests.ingest.mapped import TIMED, parse
from tests.mutation.hold import TOGETHER, bring
from tests.mutation.mutants import mutants
from tests.mutation.test_mutants import COPIES, PROJECT

STEPLOG = PROJECT / "sample_traces" / "mappings" / "steplog"
CARDS = sorted((PROJECT / "sample_traces" / "mappings").rglob("*.toml"))

ROWS = [
    {"step": n // 2, "rank": n % 2, "t": 1_760_000_000 + n, "d": 900.5 + n}
    for n in range(20)
]


def parquet() -> bytes:
    sink = io.BytesIO()
    pl.DataFrame(ROWS).write_parquet(sink)
    return sink.getvalue()


FORMS: dict[str, bytes] = {
    "log.csv": pl.DataFrame(ROWS).write_csv().encode(),
    "log.jsonl": "".join(f"{json.dumps(row)}\n" for row in ROWS).encode(),
    "log.json": json.dumps(ROWS, indent=1).encode(),
    "log.parquet": parquet(),
}


def claim(path: Path, card: mapping.Mapping) -> Source | None:
    return mapping.claim(files.head_of(path), [card], None)


def hold(name: str, data: bytes, card: mapping.Mapping, folder: Path) -> None:
    """Hold the law over damaged copies, read as the mapping reads the whole file."""
    whole = folder / name
    whole.write_bytes(data)
    source = claim(whole, card)
    assert source is not None
    copies: list[Path] = []
    for kind, damaged in mutants(data, name, COPIES):
        copies.append(folder / f"{kind}-{name}")
        copies[-1].write_bytes(damaged)
        claim(copies[-1], card)
    for first in range(0, len(copies), TOGETHER):
        bring(folder / f"lake-{first}", copies[first : first + TOGETHER], source)


@pytest.mark.mutation
def test_damaged_files_of_a_mapping_are_answered(tmp_path: Path) -> None:
    data = (STEPLOG / "steplog-a.csv").read_bytes()
    card = mapping.load(STEPLOG / "mapping.toml")
    hold("steplog-a.csv", data, card, tmp_path)


@pytest.mark.mutation
@pytest.mark.parametrize("name", FORMS)
def test_damaged_files_of_every_form_are_answered(name: str, tmp_path: Path) -> None:
    hold(name, FORMS[name], parse(TIMED), tmp_path)


@pytest.mark.mutation
@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.stem)
def test_damaged_mappings_are_answered(path: Path, tmp_path: Path) -> None:
    data = tmp_path / "steplog-a.csv"
    data.write_bytes((STEPLOG / "steplog-a.csv").read_bytes())
    for number, (_, damaged) in enumerate(mutants(path.read_bytes(), path.name, 400)):
        try:
            card = mapping.parse(damaged, "mapping.toml")
        except SettingError:
            continue
        if (source := claim(data, card)) is not None:
            bring(tmp_path / f"lake-{number}", [data], source)
