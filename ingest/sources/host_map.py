"""The host map that a run card names: which GPU each rank has, and where it is."""

from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import HostMap

#: Columns that every map has.
REQUIRED: Final = frozenset({"rank", "host"})

#: Columns of which a map has at least one more, so that no other table is taken for it.
PLACES: Final = frozenset({"gpu_uuid", "local_rank", "pci_address"})

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
    known = set(HostMap.column_names()) - {"file_id", "run_id", "spare"}
    return names >= REQUIRED and not names.isdisjoint(PLACES) and names <= known


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a map; an empty rank marks a spare.

    Raises:
        UnreadableFileError: If it is not a CSV with one field for each column, or is
            far longer than a map can be.
    """
    data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES or data.count(b"\n") > MOST_ROWS + 1:
        raise UnreadableFileError(
            reading.path,
            "table",
            f"at most {MOST_ROWS} rows and {MOST_BYTES} bytes",
            "keep one row for each rank or spare",
        )
    try:
        cells = pl.read_csv(data, infer_schema=False, encoding="utf8-lossy")
    except pl.exceptions.PolarsError as error:
        reason = " ".join(str(error).split())
        raise UnreadableFileError(
            reading.path, "table", "a CSV with a header", f"correct it ({reason})"
        ) from error
    cells = cells.rename(str.strip)
    texts = [pl.col(name).str.strip_chars().replace("", None) for name in cells.columns]
    cells = cells.with_columns(texts)
    lines = pl.int_range(2, pl.len() + 2).cast(pl.String)
    rows = cells.with_columns(
        pl.col("rank").cast(pl.Int32, strict=False).alias("_rank"),
        run_id=pl.lit(reading.run_id),
        place=pl.concat_str(pl.lit("line "), lines),
    )
    # a rank that is no number is not a spare: give it one that the table refuses
    bad = pl.col("rank").is_not_null() & pl.col("_rank").is_null()
    rank = pl.when(bad).then(pl.lit(-1)).otherwise("_rank").cast(pl.Int32)
    rows = rows.with_columns(rank=rank, spare=_spare()).drop("_rank")
    if "local_rank" in rows.columns:
        rows = rows.with_columns(pl.col("local_rank").cast(pl.Int32, strict=False))
    yield Batch({HostMap: rows}, records=rows.height)


def _spare() -> pl.Expr:
    is_spare = pl.col("rank").is_null()
    return pl.when(is_spare).then(is_spare.cast(pl.Int32).cum_sum() - 1)


SOURCE: Final = Source(
    name="host-map",
    version=2,
    describes="CSV of ranks and where their GPUs are (hosts.csv of a run card)",
    tables=(HostMap,),
    options=frozenset({"run_id"}),
    recognizes=recognizes,
    read=read,
)
