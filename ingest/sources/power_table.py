"""A table whose columns are those of `power_samples`: CSV, JSON lines or Parquet.

It needs `gpu_uuid` and `time_ns`, and one of `power_average_w`, `power_instant_w` and
`energy_mj`; the other columns of the table may be there. Without a column, or where a
cell of it is empty, a row is of the run card's cluster, of a GPU's board, and of an
exact time. Columns of other names are passed over: each counts as a repair of the file
and is named in the log. Integers are taken as they are written.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import BinaryIO, Final

from ingest.sources._source import Batch, Head, Reading, Source
from ingest.sources._typed.parquet import MAGIC
from ingest.sources._typed.shape import Shape
from ingest.sources._typed.table import read_table, text_fits
from ingest.tables import PowerSamples

_WHO: Final = (PowerSamples.gpu_uuid.name, PowerSamples.time_ns.name)

#: What such a table is like.
POWER: Final = Shape(
    table=PowerSamples,
    noun="a table of power",
    needs=tuple(
        (*_WHO, measured.name)
        for measured in (
            PowerSamples.power_average_w,
            PowerSamples.power_instant_w,
            PowerSamples.energy_mj,
        )
    ),
    defaults={
        PowerSamples.level.name: "gpu_board",
        PowerSamples.time_quality.name: "exact",
    },
)


def recognizes(head: Head) -> bool:
    """Return whether the file has the required columns."""
    if head.data.startswith(MAGIC):
        return _fits(head.columns)
    return text_fits(head, _fits)


def _fits(names: Iterable[str]) -> bool:
    return POWER.fits(names)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a table of power.

    Raises:
        UnreadableFileError: If a required column is missing.
    """
    cluster = {PowerSamples.cluster.name: reading.cluster}
    shape = replace(POWER, defaults={**POWER.defaults, **cluster})
    return read_table(stream, shape, reading)


SOURCE: Final = Source(
    name="power-table",
    version=1,
    describes="CSV, JSON lines or Parquet with the columns of power_samples",
    tables=(PowerSamples,),
    options=frozenset({"cluster"}),
    recognizes=recognizes,
    read=read,
    needs=(*_WHO, PowerSamples.power_average_w.name),
)
