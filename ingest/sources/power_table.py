"""A table whose columns are those of `power_samples`: CSV, JSON lines or Parquet.

It needs `gpu_uuid`, `time_ns` (UTC) and one measured column; the other columns of the
table may be there. Columns of other names are passed over: each counts as a repair of
the file and is named in the log. Without a column, or where a cell of it is empty, a
row is of a GPU's board, its time is exact, and its cluster is that of the run card or
of the settings. Numbers are taken as they are written; what is no number, none that is
finite, or no whole one where the column counts is refused. A Parquet column of 32 bit
floats is widened, whole numbers are fine in a column of floats.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.sources._source import Batch, Head, Reading, Source
from ingest.sources._typed.shape import Shape
from ingest.sources._typed.table import read_table, table_fits
from ingest.tables import PowerSamples

#: Columns that every row must have.
_REQUIRED: Final = (PowerSamples.gpu_uuid.name, PowerSamples.time_ns.name)

#: Columns that are measured.
_MEASURED: Final = (
    PowerSamples.power_average_w.name,
    PowerSamples.power_instant_w.name,
    PowerSamples.power_limit_w.name,
    PowerSamples.energy_mj.name,
    PowerSamples.temperature_c.name,
    PowerSamples.memory_temperature_c.name,
    PowerSamples.sm_clock_mhz.name,
    PowerSamples.throttle_reasons.name,
    PowerSamples.throttle_power_ns.name,
    PowerSamples.throttle_thermal_ns.name,
    PowerSamples.last_xid.name,
    PowerSamples.utilization_ratio.name,
)

#: What such a table is like.
POWER: Final = Shape(
    table=PowerSamples,
    noun="a table of power",
    needs=(_REQUIRED,),
    one_of=_MEASURED,
    defaults={
        PowerSamples.level.name: "gpu_board",
        PowerSamples.time_quality.name: "exact",
    },
)


def recognizes(head: Head) -> bool:
    """Return whether the file has the columns."""
    return table_fits(head, POWER.fits)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a table of power.

    Raises:
        UnreadableFileError: If a required column is missing.
    """
    return read_table(stream, POWER, reading)


SOURCE: Final = Source(
    name="power-table",
    version=1,
    describes="CSV, JSON lines or Parquet with the columns of power_samples",
    tables=(PowerSamples,),
    options=frozenset({"cluster"}),
    recognizes=recognizes,
    read=read,
    needs=(*_REQUIRED, PowerSamples.power_average_w.name),
)
