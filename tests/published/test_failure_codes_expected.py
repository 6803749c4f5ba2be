"""Ranks that hang in real dumps, and the Xid catalogue: rows E091, E093 and E097.

The dumps are of runs into which faults were injected; a log beside them says of which
ranks. What a rank asked for and completed is what dumps tell: who is to blame is
asked of them elsewhere.
"""

import csv
import io
import re
from functools import cache
from pathlib import Path
from typing import Final

import polars as pl
import pytest

from ingest.sources import Head, flight_recorder, kernel_log
from ingest.tables import Failures, GroupStatus
from ingest.xids import UNKNOWN_NAME, XIDS
from tests.ingest.readings import held, reading, records, refused, rows

pytestmark = pytest.mark.thorough

#: Ranks of each of the two runs.
RANKS: Final = range(16)


@cache
def expected(shared: Path) -> dict[str, dict[str, str]]:
    with (shared / "expected/failures.tsv").open(newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file, delimiter="\t")}


def folder_of(shared: Path, row: str) -> Path:
    return shared / "data/failures" / expected(shared)[row]["file"]


def status_of(folder: Path) -> pl.DataFrame:
    """Return what the dumps of all ranks tell, with how far each group came."""
    found = []
    for rank in RANKS:
        path = folder / f"_dump_{rank}"
        assert flight_recorder.SOURCE.recognizes(Head(path.name, path.read_bytes()))
        with path.open("rb") as stream:
            batches = held(flight_recorder.SOURCE.read(stream, reading()))
        assert refused(batches) == []
        found += rows(batches, GroupStatus)
    counts = ("last_enqueued", "last_completed")
    return pl.DataFrame(found, infer_schema_length=None).with_columns(
        pl.col(name).max().over("group_id").name.prefix("most_") for name in counts
    )


def behind(status: pl.DataFrame, count: str, kind: str = "tp") -> set[int]:
    """Return the ranks behind their own group, of the groups of a kind."""
    late = pl.col(count) < pl.col(f"most_{count}")
    return set(status.filter(late, parallel_kind=kind)["rank"])


def named(shared: Path, row: str) -> set[int]:
    """Return the ranks that the published reference calls missing."""
    return {int(one) for one in expected(shared)[row]["published_value"].split(",")}


def injected(folder: Path) -> set[int]:
    told = re.search(
        r"Fault ranks: \[(.*)\]", (folder / "fault_injection.log").read_text()
    )
    assert told
    return {int(one) for one in told[1].split(",")}


def test_ranks_whose_interpreter_was_held(shared: Path) -> None:
    """Two ranks asked for nothing more: they have no entry, and both are named."""
    folder = folder_of(shared, "E093")
    status = status_of(folder)
    seen = status.group_by("rank").agg(pl.col("entries_seen").sum())
    silent = set(seen.filter(entries_seen=0)["rank"])
    assert silent == named(shared, "E093") == injected(folder) == {9, 14}
    assert behind(status, "last_enqueued") == silent


def test_ranks_whose_gpu_failed(shared: Path) -> None:
    """The reference names one of the two ranks, the one that asked for less.

    The host of rank 14 went on: it asked for all that its peer did, and only what
    its GPU completed is behind.
    """
    folder = folder_of(shared, "E091")
    status = status_of(folder)
    assert behind(status, "last_enqueued") == named(shared, "E091") == {12}
    assert behind(status, "last_completed") == injected(folder) == {12, 14}


@pytest.mark.parametrize(("row", "late"), [("E091", 8), ("E093", 8)])
def test_neighbours_of_a_pipeline_are_behind_as_well(
    shared: Path, row: str, late: int
) -> None:
    """Stages ask for different numbers of transfers: behind is not to blame there."""
    ranks = behind(status_of(folder_of(shared, row)), "last_enqueued", "pp")
    assert len(ranks) == late
    assert ranks > named(shared, row)


def test_each_code_of_the_public_catalogue_is_known_or_told_as_unknown(
    shared: Path,
) -> None:
    table = folder_of(shared, "E097").read_text().splitlines()[1:]
    codes = [int(line.partition("\t")[0]) for line in table]
    assert (
        len(codes) == len(set(codes)) == int(expected(shared)["E097"]["computed_value"])
    )
    lines = [f"[ 1.5] NVRM: Xid (PCI:0000:5d:00): {code}, x\n" for code in codes]
    stream = io.BytesIO("".join(lines).encode())
    batches = held(kernel_log.SOURCE.read(stream, reading()))
    assert (records(batches), refused(batches)) == (len(codes), [])
    names = {int(row["code"]): row["name"] for row in rows(batches, Failures)}
    assert names == {
        code: XIDS[code].name if code in XIDS else UNKNOWN_NAME for code in codes
    }
    assert {code for code, name in names.items() if name != UNKNOWN_NAME} == set(XIDS)
