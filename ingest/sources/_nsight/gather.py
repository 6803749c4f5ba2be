"""Work, launches and names of an Nsight Systems export, by table.

Names are numbers into `StringIds`. That table has everything that the profiler met:
only the texts that name kernels or steps are read. Tables of the environment, of the
capture and of the export are never looked at: they hold users, hosts, paths, secrets.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import polars as pl

from ingest.communication import communication_names
from ingest.sources._kineto.losses import Losses
from ingest.sources._kineto.spool import Spool
from ingest.sources._nsight.database import DamagedTableError, Database
from ingest.sources._nsight.kinds import (
    COMMUNICATION,
    COPIES,
    KERNEL_NAMES,
    KINDS,
    Kind,
)
from ingest.sources._nsight.values import OTHER

#: Columns without which a table holds no work.
REQUIRED: Final = ("start", "end", "deviceId")

#: A process in `globalPid` and `globalTid`: all but the 24 bits of the thread.
THREAD: Final = 1 << 24

#: Bits of a correlation that one of another process is told apart by.
_CORRELATION: Final = 1 << 32

#: What the name of a step has in it, so that others, hundreds of thousands, are left.
STEP: Final = "(?i)^.{0,40}(?:step|iter).{0,40}$"

_RUNTIME: Final = "CUPTI_ACTIVITY_KIND_RUNTIME"


class Gathering:
    """What was taken from an export.

    Attributes:
        records: Rows seen of tables of work. [1]
        work: Frames of work, with `kernel` as the number of its name.
        launches: Frames of calls of one process each.
        places: Processes and devices that did some work.
    """

    def __init__(self, database: Database, losses: Losses) -> None:
        """Begin with nothing."""
        self.records = 0
        self.places: set[tuple[int, int]] = set()
        self._database = database
        self._losses = losses
        self._processes: dict[int, int] = {}
        self._kernels: set[int] = set()

    def add_work(self, spool: Spool) -> None:
        """Take the work of all tables."""
        for kind in KINDS:
            table = self._database.table(kind.table)
            if table:
                self._add_table(kind, table, spool)

    def _add_table(self, kind: Kind, table: str, spool: Spool) -> None:
        missing = [n for n in REQUIRED if n not in self._database.columns(table)]
        if missing:
            words = f"no column {', '.join(missing)}"
            self._losses.refuse("missing_column", f"table {table}", words.encode())
            return
        known = [n for n in kind.columns if n in self._database.columns(table)]
        named = known[:1] or kind.columns[:1]
        asked = (*REQUIRED, "streamId", "correlationId", "globalPid", *named)
        with noted(self._losses, table):
            for rows in self._database.numbers(table, asked):
                spool.add(self._work(kind, rows))
                self.records += len(rows)

    def _work(self, kind: Kind, rows: pl.DataFrame) -> pl.DataFrame:
        keyed = self._with_process(rows, "globalPid")
        frame = keyed.select(
            event=pl.int_range(pl.len()) + self.records,
            kernel=self._kernel(kind),
            name=self._name(kind),
            category=pl.lit(kind.category, pl.UInt8),
            start="start",
            duration=pl.col("end") - pl.col("start"),
            device="deviceId",
            stream="streamId",
            correlation="correlation",
            external=pl.lit(None, pl.Int64),
            process="process",
            other=OTHER,
        )
        self._kernels |= set(frame["kernel"].drop_nulls().unique())
        found = frame.select("process", "device").unique().drop_nulls()
        self.places |= set(found.iter_rows())
        return frame

    def _kernel(self, kind: Kind) -> pl.Expr:
        if kind.columns == KERNEL_NAMES:
            return pl.coalesce(pl.col(f"^({'|'.join(KERNEL_NAMES)})$"))
        return pl.lit(None, pl.Int64)

    def _name(self, kind: Kind) -> pl.Expr:
        if "copyKind" not in kind.columns:
            return pl.lit(kind.name)
        return pl.col("copyKind").replace_strict(
            dict(COPIES), default=kind.name, return_dtype=pl.String
        )

    def add_launches(self, spool: Spool) -> None:
        """Take the calls that may have launched work."""
        table = self._database.table(_RUNTIME)
        if not table:
            return
        asked = ("start", "correlationId", "globalTid")
        with noted(self._losses, table):
            for rows in self._database.numbers(table, asked):
                calls = self._with_process(rows, "globalTid").select(
                    "process",
                    "correlation",
                    external=pl.lit(None, pl.Int64),
                    launch="start",
                )
                for one in calls.drop_nulls("launch").partition_by("process"):
                    spool.add(one.drop("process"))

    def _with_process(self, rows: pl.DataFrame, column: str) -> pl.DataFrame:
        """Add `process`, and `correlation` as one that no other process has."""
        process = pl.col(column).fill_null(0) // THREAD
        keyed = rows.with_columns(process=process)
        known = self._processes
        for one in keyed["process"].unique(maintain_order=True):
            known.setdefault(one, len(known))
        number = pl.col("process").replace_strict(known, return_dtype=pl.Int64)
        correlation = pl.col("correlationId")
        is_one = correlation.is_between(1, _CORRELATION - 1)
        return keyed.with_columns(
            correlation=pl.when(is_one).then(number * _CORRELATION + correlation)
        )

    def strings(self) -> pl.DataFrame:
        """Return `id` and `value` of the texts that name kernels or may name steps."""
        frames = [pl.DataFrame(schema={"id": pl.Int64, "value": pl.String})]
        table = self._database.table("StringIds")
        if table and "value" in self._database.columns(table):
            wanted = pl.Series(sorted(self._kernels), dtype=pl.Int64).implode()
            matters = pl.col("id").is_in(wanted) | pl.col("value").str.contains(STEP)
            with noted(self._losses, table):
                texts = self._database.texts(table, ("id",), "value")
                frames += (rows.filter(matters) for rows in texts)
        return pl.concat(frames).unique("id", keep="first", maintain_order=True)


def kernel_names(strings: pl.DataFrame) -> pl.DataFrame:
    """Return `kernel`, `name` and `category`, null but for communication."""
    pattern = communication_names()
    talks = [pattern.search(one or "") is not None for one in strings["value"]]
    category = pl.when(pl.Series(talks, dtype=pl.Boolean)).then(
        pl.lit(COMMUNICATION, pl.UInt8)
    )
    return strings.select(kernel="id", name="value", category=category)


@contextmanager
def noted(losses: Losses, table: str) -> Iterator[None]:
    """Refuse the rest of a table that cannot be read any further."""
    try:
        yield
    except DamagedTableError as error:
        losses.refuse("damaged", f"table {table}", str(error).encode())
