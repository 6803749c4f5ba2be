"""The block that torchrun prints when a worker failed (elastic/multiprocessing/errors).

    Root Cause (first observed failure):
    [0]:
      time      : 2021-08-11_10:00:00
      host      : node-01
      rank      : 3 (local_rank: 3)
      exitcode  : -9 (pid: 123)
      error_file: <N/A>
      traceback : Signal 9 (SIGKILL) received by PID 123

* Of the entries one is the root cause, by time; the others were ended because of it,
  and are kept for information.
* The time is local and has no zone. Of a traceback the first line is its message.
"""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._console.failures import batch
from ingest.sources._console.format import LineFormat
from ingest.sources._source import Batch, Reading
from ingest.tables import Failures
from ingest.times import naive_to_ns

_ROOT: Final = r"^Root Cause \(first observed failure\):"
_OTHERS: Final = r"^Failures:"
_ENTRY: Final = r"^\[[0-9]{1,6}\]:$"
_KEY: Final = r"^(time|host|rank|exitcode|error_file|traceback) *: (.*)$"
_ANY: Final = f"{_ROOT}|{_OTHERS}|{_ENTRY}|{_KEY}"

#: Lines of blocks that are held until the file ends: 100,000 failed workers. [1]
MOST_LINES: Final = 1_000_000


class _Blocks:
    """Holds the lines of blocks, which may lie in two portions of a file."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._held: list[pl.DataFrame] = []
        self._count = 0

    def take(self, lines: pl.DataFrame) -> Batch:
        found = lines.filter(pl.col("line").str.contains(_ANY))
        if found.height:
            self._held.append(found)
            self._count += found.height
        return self.close() if self._count > MOST_LINES else Batch()

    def close(self) -> Batch:
        held, self._held, self._count = self._held, [], 0
        return (
            batch(_events(pl.concat(held), self._reading), self._reading)
            if (held)
            else Batch()
        )


def _events(lines: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return an event for every entry that tells when it was."""
    line = pl.col("line")
    pair = line.str.extract_groups(_KEY)
    head = (
        pl.when(line.str.contains(_ROOT))
        .then(pl.lit("root"))
        .when(line.str.contains(_OTHERS))
        .then(pl.lit("other"))
    )
    keyed = lines.with_columns(
        head=head.forward_fill(),
        entry=line.str.contains(_ENTRY).cast(pl.Int64).cum_sum(),
        key=pair.struct[0],
        value=pair.struct[1],
    ).drop_nulls(["key", "head"])
    entries = keyed.group_by("entry", "head", maintain_order=True).agg(
        pl.col("number").first(),
        line_count=pl.len().cast(pl.Int64),
        **{name: _of(name) for name in ("time", "host", "rank", "exitcode")},
        message=_of("traceback"),
    )
    return _rows(entries.drop_nulls(["time", "exitcode"]), reading)


def _of(key: str) -> pl.Expr:
    return pl.col("value").filter(pl.col("key") == key).first()


def _rows(entries: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    stamp = pl.col("time").str.to_datetime("%Y-%m-%d_%H:%M:%S", strict=False)
    time_ns = naive_to_ns(stamp, reading.zone)
    code = pl.col("exitcode").str.extract(r"^(-?[0-9]{1,10})")
    is_root = pl.col("head") == "root"
    known = "zone_assumed" if reading.zone_basis == "assumed" else "exact"
    return entries.with_columns(
        time_ns=time_ns,
        time_quality=pl.when(time_ns.is_null())
        .then(pl.lit("unknown"))
        .otherwise(pl.lit(known)),
        naive=time_ns.is_not_null(),
        host=pl.when(pl.col("host") != "").then("host"),
        rank=pl.col("rank").str.extract(r"^([0-9]{1,7})").cast(pl.Int32),
        code=phrase("worker_exit_{}", pl.coalesce(code, pl.lit("unknown"))),
        name=pl.col("message").str.extract(r"(SIG[A-Z]+)"),
        component=pl.lit(None, pl.String),
        severity=pl.when(is_root).then(pl.lit("fatal")).otherwise(pl.lit("info")),
    )


TORCHELASTIC: Final = LineFormat(
    name="torchelastic",
    version=1,
    describes="the block of torchrun on failed workers: root cause first",
    tables=(Failures,),
    telling=_ROOT,
    start=_Blocks,
)
