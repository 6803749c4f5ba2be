"""When the session of an Nsight Systems export began, and which GPUs it saw."""

from typing import Final

import polars as pl

from ingest.sources._kineto.limits import LATEST_NS
from ingest.sources._kineto.losses import Losses
from ingest.sources._nsight.database import Database
from ingest.sources._nsight.gather import noted

_SESSION: Final = "TARGET_INFO_SESSION_START_TIME"
_DEVICES: Final = "TARGET_INFO_CUDA_DEVICE"

#: GPUs and sessions of one export: more are no table of devices. [1]
_MOST_ROWS: Final = 10_000

#: Bits of a process's number in a globalPid without its thread.
PROCESS: Final = 1 << 24


def session_start(database: Database, losses: Losses) -> int | None:
    """Return the earliest start of a session since the epoch, null without one. [ns]"""
    starts = _rows(database, losses, _SESSION, ("utcEpochNs",))["utcEpochNs"]
    sound = starts.filter(starts.is_between(0, LATEST_NS))
    first = sound.min()
    return first if isinstance(first, int) else None


def devices_of(database: Database, losses: Losses) -> pl.DataFrame:
    """Return `pid`, `device` and `gpu`: which GPU a process means by a device."""
    columns = ("pid", "cudaId", "gpuId")
    rows = _rows(database, losses, _DEVICES, columns).drop_nulls()
    return rows.select("pid", device="cudaId", gpu="gpuId").unique(
        ("pid", "device"), keep="first", maintain_order=True
    )


def _rows(
    database: Database, losses: Losses, name: str, columns: tuple[str, ...]
) -> pl.DataFrame:
    frames = [pl.DataFrame(schema=dict.fromkeys(columns, pl.Int64))]
    table = database.table(name)
    if table and set(columns) <= database.columns(table):
        with noted(losses, table):
            for rows in database.numbers(table, columns):
                frames.append(rows.select(columns).head(_MOST_ROWS))
                break
    return pl.concat(frames)
