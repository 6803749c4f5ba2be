"""CSV of the windows that Zeus measured (ZeusMonitor, `log_file`).

* A line is a window: its start, name, length in seconds, and the energy of each GPU in
  joules. It makes a row of `energy_windows` for each GPU. It makes no sample of power:
  the mean over a window is not the power at its end, and windows may lie inside each
  other, so they cannot be joined to one series either.
* The start is in seconds since the epoch, with all digits taken exactly. Old versions
  wrote a monotonic clock, which counts from the start of the node: such a window has a
  length and an energy, and no date.
* A name may hold commas: what it is stands between the first two commas from the left
  and the known number of cells from the right.
* A GPU is known by its index, the host by the name of the file (_power.names).
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._lines import TRUNCATED
from ingest.sources._lines_csv import CELL_COUNT, names_of
from ingest.sources._lines_frames import Lines, line_frames
from ingest.sources._power.smi_cells import energy_mj
from ingest.sources._power.stamps import epoch_ns
from ingest.sources._power.windows import batch, length_ns
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import EnergyWindows

_HEADER: Final = re.compile(
    r"start_time,window_name,elapsed_time(?:,(?:gpu[0-9]+_energy|cpu[0-9]+_energy))*"
)
_GPU: Final = re.compile(r"gpu([0-9]+)_energy")

#: Cells before those of energy.
_LEADING: Final = 3

_HINTS: Final = {
    "start_ns|value": "seconds since the epoch, or of a monotonic clock, were expected",
    CELL_COUNT: "start, name, length and the energy of each GPU of the header expected",
}


def recognizes(head: Head) -> bool:
    """Return whether the first line is the header of Zeus."""
    first = head.text.lstrip().partition("\n")[0].strip()
    return _HEADER.fullmatch(first) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read windows."""
    columns: list[str] = []
    for lines in line_frames(stream, EnergyWindows):
        yield Batch(
            refused=lines.refused, records=len(lines.refused), repairs=lines.repairs
        )
        for columns, part in _parts(lines, columns):  # noqa: B020 - carried on
            yield batch(_windows(part, columns), _devices(columns), reading, _HINTS)


def _parts(
    lines: Lines, columns: list[str]
) -> Iterator[tuple[list[str], pl.DataFrame]]:
    """Cut lines at headers, which are in no part and name the columns of energy."""
    last = pl.lit(lines.cut_short) & (pl.int_range(pl.len()) == pl.len() - 1)
    frame = lines.frame.with_columns(last=last)
    headers = frame.with_row_index("row").filter(
        pl.col("line").str.starts_with("start_time,")
    )
    begin = 0
    for row, line in headers.select("row", "line").iter_rows():
        yield columns, frame.slice(begin, row - begin)
        columns, begin = names_of(line)[_LEADING:], row + 1
    yield columns, frame.slice(begin)


def _windows(lines: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """Return lines as windows, with the rule that they break."""
    cells = pl.col("line").str.split(",")
    count = pl.col("cells").list.len().cast(pl.Int64)
    names = pl.col("cells").list.slice(1, count - 2 - len(columns))
    is_ragged = count < _LEADING + len(columns)
    told = lines.with_columns(cells=cells).select(
        "line",
        place=phrase("line {}", "number"),
        rule=pl.when("last")
        .then(pl.lit(TRUNCATED))
        .when(is_ragged)
        .then(pl.lit(CELL_COUNT)),
        window=names.list.join(","),
        start_ns=epoch_ns(_cell(0)),
        boot_offset_ns=length_ns(_cell(0)),
        length_ns=length_ns(_cell(-1 - len(columns))),
        **{
            name: energy_mj(_cell(index - len(columns)), "J")
            for index, name in enumerate(columns)
        },
    )
    energies = {
        name: pl.col(name).is_null() for name in columns if _GPU.fullmatch(name)
    }
    rules = {
        "start_ns|value": pl.col("start_ns").is_null()
        & pl.col("boot_offset_ns").is_null(),
        "duration_ns|value": pl.col("length_ns").is_null(),
        "energy_mj|value": pl.any_horizontal(pl.lit(value=False), *energies.values()),
    }
    broken = [
        pl.when(is_broken).then(pl.lit(rule)) for rule, is_broken in rules.items()
    ]
    is_dated = pl.col("start_ns").is_not_null()
    return told.with_columns(
        pl.coalesce("rule", *broken).alias("rule"),
        boot_offset_ns=pl.when(~is_dated).then("boot_offset_ns"),
        time_quality=pl.when(is_dated)
        .then(pl.lit("exact"))
        .otherwise(pl.lit("boot_relative")),
    )


def _devices(columns: list[str]) -> dict[str, tuple[str, str]]:
    """Return level and identity of each GPU, by its column."""
    matches = [_GPU.fullmatch(name) for name in columns]
    return {m[0]: ("gpu_board", f"index:{m[1]}") for m in matches if m}


def _cell(index: int) -> pl.Expr:
    return pl.col("cells").list.get(index, null_on_oob=True).str.strip_chars()


SOURCE: Final = Source(
    name="zeus",
    version=4,
    describes="CSV of the windows measured by Zeus",
    tables=(EnergyWindows,),
    options=frozenset({"cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
