"""Parquet of operations as ByteDance published them (StragglerAnalysis, 2505.05713).

Columns: dp_rank, stage, rank, step, optype, start_ts and duration in seconds (float32),
seq_id, mc (chunk), mb_id (micro-batch) and gmc; -1 stands for none. Times count from
the beginning of each step, and nothing tells when that was: `offset_ns` has them, and
`start_ns` is null. One rank is kept for each replica and stage; steps have gaps.
Seconds in float32 are taken to the nearest nanosecond.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from ingest.errors import UnreadableFileError
from ingest.phrases import phrase
from ingest.sources import _operations as operations
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.sources._whole import on_disk
from ingest.tables import Operations

#: Columns that such a file has, and their kinds.
_INTEGERS: Final = ("dp_rank", "stage", "rank", "step", "seq_id", "mc", "mb_id")
_SECONDS: Final = ("start_ts", "duration")
_KIND: Final = "optype"
_REQUIRED: Final = frozenset({*_INTEGERS, *_SECONDS, _KIND})

#: Rows read at a time: 11 columns of them are some 12 MB.
BATCH_ROWS: Final = 262_144


def recognizes(head: Head) -> bool:
    """Return whether the file is Parquet with all of the columns."""
    return set(head.columns) >= _REQUIRED


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read operations.

    Raises:
        UnreadableFileError: If the file is damaged, or a column has a type that cannot
            be what its name says.
    """
    try:
        with on_disk(stream) as path, pq.ParquetFile(path) as file:
            yield from _read(file, reading)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        mend = f"copy it again ({type(error).__name__})"
        raise UnreadableFileError(
            reading.path, "footer and pages", "a whole Parquet file", mend
        ) from error


def _read(file: pq.ParquetFile, reading: Reading) -> Iterator[Batch]:
    _check_types(file.schema_arrow, reading)
    first = 1
    for some in file.iter_batches(BATCH_ROWS, columns=sorted(_REQUIRED)):
        some.validate(full=True)
        frame = pl.DataFrame({name: some.column(name) for name in _REQUIRED})
        yield _batch(frame, first, reading)
        first += frame.height


def _check_types(schema: pa.Schema, reading: Reading) -> None:
    fits = {
        **dict.fromkeys(_INTEGERS, pa.types.is_integer),
        **dict.fromkeys(_SECONDS, pa.types.is_floating),
        _KIND: _is_text,
    }
    for name, is_fit in fits.items():
        found = schema.field(name).type if name in schema.names else None
        if found is None or not is_fit(found):
            mend = f"found {found}; write it as the published traces do"
            place = f"column {name!r}"
            raise UnreadableFileError(reading.path, place, "numbers or names", mend)


def _is_text(dtype: pa.DataType) -> bool:
    text = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    return bool(pa.types.is_string(text) or pa.types.is_large_string(text))


def _batch(frame: pl.DataFrame, first: int, reading: Reading) -> Batch:
    number = pl.int_range(first, first + pl.len())
    whole = frame.select(pl.col(_INTEGERS).cast(pl.Int64, strict=False))
    rows = frame.with_columns(whole).select(
        *("dp_rank", "rank", "step"),
        pp_rank="stage",
        kind=pl.col(_KIND).cast(pl.String),
        microbatch=operations.index_or_null("mb_id"),
        chunk=operations.index_or_null("mc"),
        sequence="seq_id",
        offset_ns=operations.seconds_to_ns(pl.col("start_ts")),
        duration_ns=operations.seconds_to_ns(pl.col("duration")),
        place=phrase("row {}", number),
        raw=pl.lit(frame.select(pl.struct(pl.all()).struct.json_encode()).to_series()),
    )
    rules = {
        **{
            f"{name}|range": pl.lit(whole[name].is_null() & frame[name].is_not_null())
            for name in _INTEGERS
        },
        "step|required": pl.col("step").is_null(),
        "start_ts|number": ~(pl.col("offset_ns") >= 0),
        "duration|number": ~(pl.col("duration_ns") >= 0),
    }
    return operations.batch(rows, rules, reading, frame.height)


SOURCE: Final = Source(
    name="straggler-trace",
    version=1,
    describes="operations of ByteDance's StragglerAnalysis, Parquet",
    tables=(Operations,),
    options=frozenset({"run_id"}),
    recognizes=recognizes,
    read=read,
)
