"""Calls that NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=COLL,INIT tells of (enqueue.cc).

    node-01:12:34 [0] NCCL INFO comm 0x5581 rank 0 nranks 8 cudaDev 0 nvmlDev 0 busId
    19000 commId 0x2fe8 - Init COMPLETE
    node-01:12:34 [0] NCCL INFO AllReduce: opCount 2a sendbuff 0x7f00 recvbuff 0x7f00
    count 1024 datatype 7 op 0 root 0 comm 0x5581 [nranks=8] stream 0x5582

* A call is asked for; nothing tells that it started or ended. Where stamps are asked
  for (NCCL_DEBUG_TIMESTAMP_LEVELS), that of the line is when it was recorded.
* `comm` is an address in one process; `commId`, of the line that told of its making, is
  the same on all ranks. Without that line a group is known in its process only.
* `opCount` is hexadecimal and counts the calls of a communicator.
* `count` is that of one rank: all-gather and reduce-scatter move it once for each.
"""

from typing import Final

import polars as pl

from ingest.communication import collective_kind
from ingest.phrases import phrase
from ingest.sources._console.failures import stamped
from ingest.sources._console.format import LineFormat
from ingest.sources._source import Batch, Reading
from ingest.tables import Collectives

_PROCESS: Final = r"([A-Za-z0-9._-]+:[0-9]{1,10}):[0-9]{1,10} \[(-?[0-9]{1,4})\] "
_CALL: Final = (
    r"NCCL INFO ([A-Za-z]{4,20}): opCount ([0-9a-f]{1,15}) .*"
    r"count ([0-9]{1,15}) datatype ([0-9]{1,2}) .*comm (0x[0-9a-f]{1,16}) "
    r"(?:\[nranks=([0-9]{1,7})\])?"
)
_MADE: Final = (
    r"NCCL INFO (?:ncclComm\S* )?comm (0x[0-9a-f]{1,16}) rank ([0-9]{1,7}) "
    r"nranks ([0-9]{1,7}) .*commId (0x[0-9a-f]{1,16})"
)
_TELLING: Final = r"NCCL INFO [A-Za-z]{4,20}: opCount [0-9a-f]{1,15} "

#: Names and bytes of the number formats, by ncclDataType_t (nccl.h). [B]
_DTYPES: Final = {
    "0": ("int8", 1),
    "1": ("uint8", 1),
    "2": ("int32", 4),
    "3": ("uint32", 4),
    "4": ("int64", 8),
    "5": ("uint64", 8),
    "6": ("float16", 2),
    "7": ("float32", 4),
    "8": ("float64", 8),
    "9": ("bfloat16", 2),
    "10": ("float8_e4m3fn", 1),
    "11": ("float8_e5m2", 1),
}

#: Kinds whose count is that of each rank's share.
_SHARED: Final = ("allgather", "reducescatter")

_GROUPS: Final = {
    "process": pl.String,
    "comm": pl.String,
    "rank_in_group": pl.Int32,
    "size": pl.Int64,
    "comm_id": pl.String,
}


class _Calls:
    """Remembers the communicators of a file, and gives each call its own."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._groups = pl.DataFrame(schema=_GROUPS)

    def take(self, lines: pl.DataFrame) -> Batch:
        line = pl.col("line")
        made = lines.filter(line.str.contains(_MADE))
        if made.height:
            groups = pl.concat([self._groups, made.select(_made())])
            # an address that is used again is that of the last communicator
            self._groups = groups.unique(("process", "comm"), keep="last")
        found = lines.filter(line.str.contains(_CALL))
        if found.is_empty():
            return Batch()
        calls = found.with_columns(**_call(), **stamped(self._reading))
        known = calls.join(
            self._groups, on=("process", "comm"), how="left", maintain_order="left"
        )
        zone_used = bool(calls["naive"].any())
        return Batch({Collectives: _rows(known, self._reading)}, zone_used=zone_used)

    def close(self) -> Batch:
        return Batch()


def _made() -> list[pl.Expr]:
    line = pl.col("line")
    parts = line.str.extract_groups(_MADE)
    return [
        line.str.extract(_PROCESS).alias("process"),
        parts.struct[0].alias("comm"),
        parts.struct[1].cast(pl.Int32).alias("rank_in_group"),
        parts.struct[2].cast(pl.Int64).alias("size"),
        parts.struct[3].alias("comm_id"),
    ]


def _call() -> dict[str, pl.Expr]:
    line = pl.col("line")
    parts = line.str.extract_groups(_CALL)
    return {
        "process": line.str.extract(_PROCESS),
        "device": line.str.extract(_PROCESS, 2).cast(pl.Int32),
        "kind": collective_kind(parts.struct[0]),
        "sequence": parts.struct[1].str.to_integer(base=16, strict=False),
        "count": parts.struct[2].cast(pl.Int64),
        "code": parts.struct[3],
        "comm": parts.struct[4],
        "nranks": parts.struct[5].cast(pl.Int64),
    }


def _rows(calls: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    size = pl.coalesce("size", "nranks")
    width = pl.col("code").replace_strict(
        {code: width for code, (_, width) in _DTYPES.items()},
        default=None,
        return_dtype=pl.Int64,
    )
    shares = pl.when(pl.col("kind").is_in(_SHARED)).then(size).otherwise(1)
    bytes_total = (pl.col("count").cast(pl.Int128) * width * shares).cast(
        pl.Int64, strict=False
    )
    names = {code: name for code, (name, _) in _DTYPES.items()}
    kind = pl.coalesce("kind", pl.lit("unknown"))
    return calls.select(
        *("sequence", "rank_in_group"),
        run_id=pl.lit(reading.run_id),
        trace_id=pl.lit(reading.file_id[:16]),
        event=pl.col("number").cast(pl.Int64),
        device=pl.when(pl.col("device") >= 0).then("device"),
        group_id=pl.coalesce(
            phrase("comm {}", "comm_id"), phrase("{} comm {}", "process", "comm")
        ),
        group_size=size,
        kind=kind,
        is_p2p=kind.is_in(["send", "recv"]),
        match_method=pl.lit("sequence"),
        bytes_total=bytes_total,
        dtype=pl.col("code").replace_strict(
            names, default=None, return_dtype=pl.String
        ),
        recorded_ns="time_ns",
        time_basis=pl.lit("cpu"),
        state=pl.lit("scheduled"),
        place=phrase("line {}", "number"),
    )


NCCL_CALLS: Final = LineFormat(
    name="nccl-info",
    version=1,
    describes="calls that NCCL_DEBUG=INFO tells of (subsystems COLL and INIT)",
    tables=(Collectives,),
    telling=_TELLING,
    start=_Calls,
)
