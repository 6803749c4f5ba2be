"""A format of a few characters a line, to test the lake without any real one.

m STEP TIME LOSS            a row of training_metrics (its key has no time)
s STEP RANK START LENGTH    a row of step_timings (its key has its day)
! ...                       here the reader gives up
anything else               a record that the reader refuses
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from ingest import files
from ingest.catalog import open_catalog, run_query
from ingest.errors import UnreadableFileError
from ingest.lake import Committed, open_writer, snapshot
from ingest.sources import Batch, Reading, Refusal, Source
from ingest.staging import Candidate, Staged, stage
from ingest.tables import TABLES, StepTimings, Table, TrainingMetrics

#: A day. [ns]
DAY = 86_400 * 10**9

#: Lines of a batch.
BATCH = 100

METRICS = ("run_id", "step", "time_ns", "loss", "place")
STEPS = ("run_id", "step", "rank", "start_ns", "duration_ns", "place")
FIXED = {"clock": "host", "scope": "rank", "step_count": 1}


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    numbered = enumerate(stream, 1)
    while lines := list(islice(numbered, BATCH)):
        end = next((i for i, (_, line) in enumerate(lines) if line[:1] == b"!"), None)
        yield batch_of(lines[:end])
        if end is not None:
            place = f"line {lines[end][0]}"
            raise UnreadableFileError(reading.path, place, "no !", "leave it out")


def batch_of(lines: Sequence[tuple[int, bytes]]) -> Batch:
    rows: dict[bytes, list[tuple[Any, ...]]] = {b"m": [], b"s": []}
    refused = []
    for number, line in lines:
        kind, *words = line.split()
        place = f"line {number}"
        try:
            one, two, three, *four = (float(word) for word in words)
            rows[kind].append(("r", one, two, three, *four, place))
            if len(four) != (kind == b"s"):
                raise ValueError(rows[kind].pop())  # noqa: TRY301
        except (KeyError, ValueError):
            text = line.decode(errors="replace").rstrip()
            refused.append(Refusal(TrainingMetrics, place, "form", text))
    metrics = pl.DataFrame(rows[b"m"], schema=list(METRICS), orient="row")
    steps = pl.DataFrame(rows[b"s"], schema=list(STEPS), orient="row")
    fixed = [pl.lit(value).alias(name) for name, value in FIXED.items()]
    return Batch(
        rows={TrainingMetrics: metrics, StepTimings: steps.with_columns(fixed)},
        refused=tuple(refused),
        records=len(lines),
        zone_used=any(line[:1] == b"s" for _, line in lines),
    )


TINY = Source(
    name="tiny",
    version=1,
    describes="a few characters a line",
    tables=(TrainingMetrics, StepTimings),
    options=frozenset(),
    recognizes=lambda head: head.data[:2] in {b"m ", b"s ", b"? ", b"! "},
    read=read,
)


def put(folder: Path, name: str, lines: Iterable[str]) -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def candidate(
    path: Path, *, supersedes: Sequence[str] = (), source: Source | None = TINY
) -> Candidate:
    print_ = files.fingerprint(path)
    name, version = (source.name, source.version) if source else ("none", 0)
    file_id = files.file_id(print_.sha256, name, version, {})
    reading = Reading(
        path=str(path),
        name=path.name,
        file_id=file_id,
        zone=UTC,
        zone_basis="option",
        run_id="r",
        run_id_basis="folder",
        cluster="c",
        modified_ns=0,
    )
    return Candidate(
        path=path,
        display_path=path.name,
        source=source,
        reading=reading,
        sha256=print_.sha256,
        size=print_.size,
        supersedes=tuple(supersedes),
    )


def ingest(root: Path, *batches: Sequence[Candidate]) -> list[Committed]:
    """Bring batches of files into a lake, a commit for each."""
    with open_writer(root) as writer:
        return [writer.commit([stage(root, batch)]) for batch in batches]


def rows(root: Path, staged: Staged, table: type[Table]) -> pl.DataFrame:
    """Return the rows of a table in the parts that were staged."""
    parts = [part for part in staged.parts if part.table == table.sql_name()]
    frames = [pl.read_parquet(root / p.path, hive_partitioning=False) for p in parts]
    return pl.concat([table.create_empty(), *frames])


def content(root: Path) -> dict[str, pl.DataFrame]:
    """Return all that the tables of a lake show, in an order of its own."""
    lake = snapshot(root)
    return {
        table.sql_name(): plain(table, lake.scan(table).collect()) for table in TABLES
    }


def losses(root: Path) -> dict[int, float]:
    """Return the loss of each step."""
    metrics = content(root)["training_metrics"]
    return dict(metrics.select("step", "loss").iter_rows())


def parts_on_disk(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*/*.parquet")}


def query(root: Path, text: str) -> list[tuple[object, ...]]:
    """Return the rows of a query to the published views of a lake."""
    with open_catalog(root) as connection:
        return run_query(connection, text).fetchall()


def plain(table: type[Table], frame: pl.DataFrame) -> pl.DataFrame:
    return frame.drop("ingested_ns", strict=False).sort(table.key or frame.columns)


def assert_same(one: dict[str, pl.DataFrame], other: dict[str, pl.DataFrame]) -> None:
    for name, frame in one.items():
        assert frame.equals(other[name]), f"{name}:\n{frame}\n{other[name]}"


def assert_accounted(root: Path) -> None:
    """Every row that was read is accepted, rejected or retired, and no other is."""
    lake = snapshot(root)
    shown = content(root)
    told = shown["ingested_files"]
    kept = told["rows_accepted"] + told["rows_rejected"] + told["rows_retired"]
    assert (told["rows_read"] == kept).all()
    for table in TABLES[:-2]:
        keys = lake.scan(table).select(table.key).collect()
        assert not keys.is_duplicated().any(), table.sql_name()
    rows = pl.concat(shown[table.sql_name()].select("file_id") for table in TABLES[:-2])
    for column, found in (
        ("rows_accepted", rows),
        ("rows_rejected", shown["rejected_rows"].select("file_id")),
    ):
        counted = found.group_by("file_id").len().rename({"len": "n"})
        joined = told.join(counted, on="file_id", how="full", coalesce=True)
        assert (joined[column] == joined["n"].fill_null(0)).all(), column
