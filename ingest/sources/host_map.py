"""The host map that a run card names: which GPU each rank has, and where it is."""

import io
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._lines import blocks, refuse_all
from ingest.sources._lines_csv import cell, names_of, split
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import HostMap

#: Columns that every map has.
REQUIRED: Final = frozenset({"rank", "host"})

#: Columns of which a map has at least one more, so that no other table is taken for it.
PLACES: Final = frozenset({"gpu_uuid", "local_rank", "pci_address"})

#: Columns that a map may have.
KNOWN: Final = frozenset(HostMap.column_names()) - {"file_id", "run_id", "spare"}

#: Rows that a map may have. More GPUs than any run has had, so that a log with the
#: header of a map is refused instead of filling the memory. [1]
MOST_ROWS: Final = 1_048_576

#: Bytes that a map may have, so that a line without an end is refused too: each row has
#: a host, a UUID, an address and numbers, which is far less than this share. [B]
MOST_BYTES: Final = 128 * MOST_ROWS


def _columns(head: Head) -> set[str]:
    first = head.text.partition("\n")[0]
    return {name.strip() for name in first.split(",")}


def recognizes(head: Head) -> bool:
    """Tell a host map by its header: only columns of ours, rank and host in front."""
    names = _columns(head)
    return names >= REQUIRED and not names.isdisjoint(PLACES) and names <= KNOWN


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a map; an empty rank marks a spare.

    Raises:
        UnreadableFileError: If it has no header of a map, or is far longer than one.
    """
    data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES or data.count(b"\n") > MOST_ROWS + 1:
        raise UnreadableFileError(
            reading.path,
            "table",
            f"at most {MOST_ROWS} rows and {MOST_BYTES} bytes",
            "keep one row for each rank or spare",
        )
    whole = list(blocks(io.BytesIO(data)))
    lines = pl.concat([block.table() for block in whole]) if whole else pl.DataFrame()
    if lines.is_empty():
        mend = "write the header of a map and a line for each rank"
        raise UnreadableFileError(reading.path, "line 1", "a header", mend)
    names = names_of(lines["line"][0])
    _check(names, reading)
    cells = split(lines.slice(1), len(names), quotes=True).select(
        "place", "line", "rule", **{name: cell(i) for i, name in enumerate(names)}
    )
    good = cells.filter(pl.col("rule").is_null()).drop("line", "rule")
    yield Batch(
        {HostMap: _rows(good, reading)} if good.height else {},
        refuse_all(HostMap, cells.filter(pl.col("rule").is_not_null())),
        records=cells.height,
        repairs=sum(block.repairs for block in whole),
    )


def _check(names: Sequence[str], reading: Reading) -> None:
    """Check the names of the columns of a map.

    Raises:
        UnreadableFileError: If one is missing, unknown, or there twice.
    """
    if not REQUIRED <= set(names) <= KNOWN or len(set(names)) < len(names):
        expected = "a header with rank and host, and only columns of a map, each once"
        mend = f"write it of {', '.join(sorted(KNOWN))}"
        raise UnreadableFileError(reading.path, "line 1", expected, mend)


def _rows(cells: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return the rows of lines; a rank that is no number gets one that is refused."""
    rank = pl.col("rank").cast(pl.Int32, strict=False)
    bad = pl.col("rank").is_not_null() & rank.is_null()
    given = pl.when(bad).then(pl.lit(-1, pl.Int32)).otherwise(rank)
    rows = cells.with_columns(rank=given, run_id=pl.lit(reading.run_id))
    if "local_rank" in rows.columns:
        rows = rows.with_columns(pl.col("local_rank").cast(pl.Int32, strict=False))
    return rows.with_columns(spare=_spare())


def _spare() -> pl.Expr:
    is_spare = pl.col("rank").is_null()
    return pl.when(is_spare).then(is_spare.cast(pl.Int32).cum_sum() - 1)


SOURCE: Final = Source(
    name="host-map",
    version=3,
    describes="CSV of ranks and where their GPUs are (hosts.csv of a run card)",
    tables=(HostMap,),
    options=frozenset({"run_id"}),
    recognizes=recognizes,
    read=read,
)
