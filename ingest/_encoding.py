"""How the rows of a large part are laid out in its file, so that they are few bytes.

Numbers of telemetry are whole microseconds, hundredths of watts, counters: of a million
of them few are different, and a dictionary makes them as short as they can be. What
counts up is told by its differences. Readers need to know none of it: the files are
plain Parquet.
"""

import base64
from typing import Any, Final

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from ingest._encoding_choice import DICTIONARY, encoding_of
from ingest._order import is_constant
from ingest.tables import Table

#: Rows of a row group: enough for a dictionary to pay, few enough to be passed over.
GROUP_ROWS: Final = 1_000_000

#: Rows from which this layout pays; fewer are written as Polars does. [1]
LEAST_ROWS: Final = 100_000

#: Dictionaries are never given up: which columns have one is decided before. [B]
_DICTIONARY_BYTES: Final = 64 * 1024 * 1024

#: Level of zstd. What a dictionary has left is hardly packed any further: level 3 takes
#: a quarter longer and saves less than a hundredth.
_LEVEL: Final = 1

_TYPES: Final = frozenset({pl.String, pl.Boolean, pl.Int32, pl.Int64, pl.Float64})
_INDEXED: Final = pa.dictionary(pa.int32(), pa.string())


def pays(frame: pl.DataFrame) -> bool:
    """Return whether rows are many, and all of types that this layout knows."""
    types = {dtype.base_type() for dtype in frame.dtypes}
    return frame.height >= LEAST_ROWS and _TYPES.issuperset(types)


def encoded(frame: pl.DataFrame, table: type[Table]) -> memoryview:
    """Return rows of a table as the content of a Parquet file."""
    rows = pa.table({column.name: _arrow(column) for column in frame})
    chosen = {column.name: encoding_of(column) for column in frame}
    out = pa.BufferOutputStream()
    with pq.ParquetWriter(
        out,
        rows.schema,
        compression="zstd",
        compression_level=_LEVEL,
        dictionary_pagesize_limit=_DICTIONARY_BYTES,
        store_schema=False,
        **_options(chosen),
    ) as writer:
        # as the table is declared, with units and descriptions, not as it came
        told = table.arrow_schema().serialize()
        writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(told)})
        writer.write_table(rows, row_group_size=GROUP_ROWS)
    return memoryview(out.getvalue())


def _options(chosen: dict[str, str]) -> dict[str, Any]:
    listed = [name for name, encoding in chosen.items() if encoding == DICTIONARY]
    others = {n: encoding for n, encoding in chosen.items() if encoding != DICTIONARY}
    return {"use_dictionary": listed, "column_encoding": others or None}


def _arrow(column: pl.Series) -> pa.ChunkedArray | pa.Array:
    """Return a column as Arrow has it, texts by their number in a dictionary."""
    if column.dtype != pl.String:
        return column.to_arrow()
    if is_constant(column) and not column.null_count():
        indices = pa.array(pl.zeros(len(column), pl.Int32, eager=True).to_arrow())
        return pa.DictionaryArray.from_arrays(indices, pa.array(column[:1].to_list()))
    return column.cast(pl.Categorical).to_arrow().cast(_INDEXED)
