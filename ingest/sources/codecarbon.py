"""CSV of emissions that CodeCarbon appends to (`emissions.csv`), of any version.

* A line is a window that ends at its time stamp and has lasted `duration` seconds. Of
  its energies, in kWh, those of all GPUs, all CPUs and the memory of a node make a row
  of `energy_windows` each, and their sum one of the level `tracked`. CodeCarbon
  measures the GPUs and estimates much of the rest.
* A program may flush often: each line then counts from the program's start, and lies
  inside the next. No line is added to another, and none is a sample of power.
* An energy of 0 is one that was not measured: GPUs without a counter have it.
* The stamp is local and names no zone: it comes from the run card or `--zone`, and
  without either the rows are `zone_assumed`. Stamps have whole seconds, so the start is
  known to a second.
* Columns are found by name, since versions differ in them. The window is named by its
  `run_id`, else by its `project_name`; it is no run of the cluster.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._lines import TRUNCATED, Block, blocks
from ingest.sources._lines_csv import CELL_COUNT, cell, names_of, split
from ingest.sources._power.rows import stamped
from ingest.sources._power.windows import batch, length_ns
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import EnergyWindows

#: Columns that every version has.
REQUIRED: Final = frozenset({"timestamp", "duration", "emissions", "energy_consumed"})

#: Level and identity of each energy, by its column.
_DEVICES: Final = {
    "gpu_energy": ("gpus", "node"),
    "cpu_energy": ("cpus", "node"),
    "ram_energy": ("memory", "node"),
    "energy_consumed": ("tracked", "node"),
}

#: Energy of a kWh. [mJ]
KWH_MJ: Final = 3_600_000_000

#: Highest energy that is one: float64 holds every mJ up to it; 2.5 GWh. [mJ]
_MOST_MJ: Final = 2**53

#: A line of names alone; every other one has a number.
_HEADER: Final = r"^[a-z_, ]*energy_consumed[a-z_, ]*$"

_HINTS: Final = {CELL_COUNT: "a line with a cell for each name of the header expected"}


def recognizes(head: Head) -> bool:
    """Return whether the first line is a header of CodeCarbon."""
    first = head.text.lstrip().partition("\n")[0].strip()
    return set(names_of(first)) >= REQUIRED


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read windows."""
    names: list[str] = []
    for block in blocks(stream):
        yield Batch(repairs=block.repairs)
        for names, lines in _parts(_table(block), names):  # noqa: B020 - carried on
            told = _windows(lines, names, reading)
            devices = {name: _DEVICES[name] for name in names if name in _DEVICES}
            yield batch(told, devices, reading, _HINTS, zone_used=True)


def _table(block: Block) -> pl.DataFrame:
    lines = block.table()
    last = pl.lit(block.cut_short) & (pl.int_range(pl.len()) == pl.len() - 1)
    return lines.with_columns(
        rule=pl.when(last).then(pl.lit(TRUNCATED)).otherwise("rule")
    )


def _parts(
    lines: pl.DataFrame, names: list[str]
) -> Iterator[tuple[list[str], pl.DataFrame]]:
    """Cut lines at headers, which are in no part."""
    marked = lines.with_row_index("row")
    is_header = pl.col("line").str.contains(_HEADER)
    headers, data = marked.filter(is_header), marked.filter(~is_header)
    begin = 0
    for row, line in headers.select("row", "line").iter_rows():
        found = names_of(line)
        if found != names:
            yield names, data.filter(pl.col("row").is_between(begin, row))
            names, begin = found, row
    yield names, data.filter(pl.col("row") >= begin)


def _windows(lines: pl.DataFrame, names: list[str], reading: Reading) -> pl.DataFrame:
    """Return lines as windows, with the rule that they break."""
    column = {name: cell(index) for index, name in enumerate(names)}
    none = pl.lit(None, pl.String)
    time, quality = stamped(column.get("timestamp", none), reading)
    window = pl.coalesce(column.get("run_id", none), column.get("project_name", none))
    energies = {name: column[name] for name in names if name in _DEVICES}
    told = split(lines, len(names), quotes=True).select(
        "place",
        "line",
        "rule",
        window=window,
        end_ns=time,
        length_ns=length_ns(column.get("duration", none)),
        time_quality=quality,
        broken=pl.any_horizontal(
            pl.lit(value=False), *(_is_broken(text) for text in energies.values())
        ),
        **{name: _mj(text) for name, text in energies.items()},
    )
    rules = {
        "end_ns|value": pl.col("end_ns").is_null(),
        "duration_ns|value": pl.col("length_ns").is_null(),
        "energy_mj|value": pl.col("broken"),
    }
    first = [pl.when(is_so).then(pl.lit(rule)) for rule, is_so in rules.items()]
    return told.with_columns(
        pl.coalesce("rule", *first).alias("rule"),
        start_ns=pl.col("end_ns") - pl.col("length_ns"),
        boot_offset_ns=pl.lit(None, pl.Int64),
    )


def _mj(text: pl.Expr) -> pl.Expr:
    """Return kWh, as text, as whole mJ; null where they are none, or not measured."""
    energy = text.cast(pl.Float64, strict=False) * KWH_MJ
    is_measured = (energy > 0) & (energy < _MOST_MJ)
    return pl.when(is_measured).then(energy).round().cast(pl.Int64)


def _is_broken(text: pl.Expr) -> pl.Expr:
    energy = text.cast(pl.Float64, strict=False) * KWH_MJ
    is_sound = (energy >= 0) & (energy < _MOST_MJ)
    return text.is_not_null() & ~is_sound.fill_null(value=False)


SOURCE: Final = Source(
    name="codecarbon",
    version=3,
    describes="CSV of emissions of CodeCarbon",
    tables=(EnergyWindows,),
    options=frozenset({"zone", "cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
