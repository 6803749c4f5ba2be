"""XML of `nvidia-smi -q -x`, one document or, with `-l`, one after the other.

* Four schemas are read, those of the drivers from 2012 to 610: see _power.smi_names.
  `power_draw` is stored as `power_average_w`, as in a log of `--query-gpu`.
* The time of a document is local and in whole seconds: its zone comes from the run card
  or `--zone`, and without either the rows are `zone_assumed`.
* A document that is cut short or damaged gives the GPUs that it has finished, and one
  refusal; the next document is read again.
* The DTD that a document names is never fetched, and no entity is expanded.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._lines import blocks
from ingest.sources._power.rows import batch, placed, samples
from ingest.sources._power.smi_document import Gpu
from ingest.sources._power.smi_documents import Documents, Found
from ingest.sources._power.smi_names import FIELDS
from ingest.sources._power.stamps import asctime
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import PowerSamples

_ROOT: Final = re.compile(r"<nvidia_smi_log[\s>]|<!DOCTYPE\s+nvidia_smi_log\b")

#: Fields that a document may have; their units are in their cells.
_UNITS: Final = dict.fromkeys(FIELDS, "")


def recognizes(head: Head) -> bool:
    """Return whether a document of nvidia-smi starts in the head."""
    return _ROOT.search(head.text) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read documents, and of each one GPU after the other."""
    documents = Documents()
    for block in blocks(stream):
        yield _batch(documents.read(block), block.repairs, reading)
    yield _batch(documents.close(), 0, reading)


def _batch(found: Found, repairs: int, reading: Reading) -> Batch:
    rows = samples(_cells(found.gpus, reading), _UNITS, reading)
    made = batch(rows, len(found.gpus), zone_used=True)
    return Batch(
        rows=made.rows,
        refused=(*made.refused, *found.refused),
        records=made.records + len(found.refused),
        repairs=repairs,
        zone_used=made.zone_used,
    )


def _cells(gpus: list[Gpu], reading: Reading) -> pl.DataFrame:
    """Return the GPUs as text, with their time."""
    told = {
        "place": [f"line {gpu.line}" for gpu in gpus],
        "line": [repr({"timestamp": gpu.stamp} | gpu.cells) for gpu in gpus],
        "rule": [None for _ in gpus],
        "stamp": [gpu.stamp for gpu in gpus],
    }
    fields = {name: [gpu.cells.get(name) for gpu in gpus] for name in FIELDS}
    frame = pl.DataFrame(told | fields, schema=dict.fromkeys(told | fields, pl.String))
    return frame.with_columns(*placed(asctime(pl.col("stamp")), reading))


SOURCE: Final = Source(
    name="nvidia-smi-xml",
    version=3,
    describes="XML of nvidia-smi -q -x, one document or many",
    tables=(PowerSamples,),
    options=frozenset({"zone", "cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
