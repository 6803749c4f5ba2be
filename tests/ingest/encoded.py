"""Records as files of a table: CSV, JSON lines and Parquet."""

import io
import json
from typing import Any

import polars as pl

ENCODINGS = ("csv", "jsonl", "parquet")


def encode(written: list[dict[str, Any]], encoding: str) -> bytes:
    if encoding == "jsonl":
        return "".join(json.dumps(record) + "\n" for record in written).encode()
    frame = pl.DataFrame(written, infer_schema_length=None)
    if encoding == "csv":
        return frame.write_csv().encode()
    return parquet(frame)


def parquet(frame: pl.DataFrame) -> bytes:
    stream = io.BytesIO()
    frame.write_parquet(stream)
    return stream.getvalue()
