"""Damaged envelopes and archives, on their whole way from a folder into the lake."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from ingest._archive_store import UNPACKED
from ingest.discovery import Options, discover
from ingest.lake import open_writer
from pipeline.steps import ingest, stage_in_threads
from pipeline.summaries import Ingested
from tests.ingest.archive_builder import tar, zipped
from tests.mutation.hold import assert_held
from tests.mutation.mutants import mutants
from tests.mutation.test_mutants import PROJECT

#: Damaged copies of each packed file. [1]
COPIES = 100

#: Copies that come into one lake. [1]
TOGETHER = 25

FORMATS = PROJECT / "sample_traces" / "formats"
PACKED = (
    FORMATS / "kernel-log" / "gpu-a07.kern.log",
    FORMATS / "kineto" / "rank1.pt.trace.json",
    FORMATS / "sacct" / "sacct.txt",
    FORMATS / "straggler-trace" / "trace.parquet",
)


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return packed


ENVELOPES: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": zstd,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".gz.gz": lambda data: gzip.compress(gzip.compress(data)),
}

INSIDE = {f"run/{path.name}": path.read_bytes() for path in PACKED}

ARCHIVES: dict[str, bytes] = {
    ".zip": zipped(INSIDE),
    ".tar": tar(*INSIDE.items()),
    ".gnu.tar": tar(*INSIDE.items(), pax=False),
    ".tar.gz": gzip.compress(tar(*INSIDE.items())),
    ".tar.zst": zstd(tar(*INSIDE.items())),
    ".zip.in.tar": tar(("run/inner.zip", zipped(INSIDE)), *INSIDE.items()),
}


def bring(inbox: Path, lake: Path) -> Ingested:
    found = discover([inbox], Options(run_id="r"), lake)
    with open_writer(lake) as writer:
        return ingest(writer, found, stage_in_threads(1), lambda _: None)


def answered(told: Ingested) -> int:
    """Return how many files the summary of an ingest speaks of."""
    known = told.known + len(told.again)
    return known + told.files.height + len(told.unreadable)


def damaged(data: bytes, ending: str, folder: Path) -> list[tuple[Path, int]]:
    """Put damaged copies into folders of some, with how many files each has."""
    inboxes: dict[Path, int] = {}
    for number, (name, copy) in enumerate(mutants(data, ending, COPIES)):
        inbox = folder / f"in-{number // TOGETHER}"
        inbox.mkdir(exist_ok=True)
        (inbox / f"{name}{ending}").write_bytes(copy)
        inboxes[inbox] = inboxes.get(inbox, 0) + 1
    return list(inboxes.items())


@pytest.mark.mutation
@pytest.mark.parametrize("ending", ENVELOPES)
@pytest.mark.parametrize("packed", PACKED, ids=lambda path: path.parent.name)
def test_damaged_envelopes_are_answered(
    packed: Path, ending: str, tmp_path: Path
) -> None:
    data = ENVELOPES[ending](packed.read_bytes())
    for inbox, copies in damaged(data, packed.suffix + ending, tmp_path):
        lake = tmp_path / f"lake-{inbox.name}"
        told = bring(inbox, lake)
        assert_held(lake)
        assert answered(told) == copies
        assert list(told.lines())


@pytest.mark.mutation
@pytest.mark.parametrize("ending", ARCHIVES)
def test_damaged_archives_are_answered(ending: str, tmp_path: Path) -> None:
    for inbox, copies in damaged(ARCHIVES[ending], ending, tmp_path):
        lake = tmp_path / f"lake-{inbox.name}"
        told = bring(inbox, lake)
        assert_held(lake)
        assert answered(told) >= copies
        left = {path.name for path in lake.iterdir() if path.name.startswith(UNPACKED)}
        assert not left
