"""A made run of hosts that compute, meet inside a host and meet across hosts."""

import numpy as np
import numpy.typing as npt
import polars as pl

from ingest.tables import Collectives

Times = npt.NDArray[np.int64]

START_NS = 1_700_000_000_000_000_000


def made_run(
    hosts: int, per_host: int, steps: int, *, every_ns: int, seed: int, slow: int = -1
) -> pl.DataFrame:
    """Two collectives a step: one of each host, one of equal places on all hosts.

    Ranks come within 300 us of each other and leave within 10 us; the slow one comes
    10 ms later.
    """
    generator = np.random.default_rng(seed)
    ranks = hosts * per_host
    rank = np.arange(ranks)
    shape = (steps, ranks)
    begin = START_NS + (np.arange(steps) * every_ns)[:, None]
    parts = []
    groups = (("tp", rank // per_host), ("dp", rank % per_host))
    for place, (name, group) in enumerate(groups):
        came = generator.integers(0, 300_000, shape)
        came[:, rank == slow] += 10_000_000
        came += place * every_ns // 2
        last = np.stack([came[:, group == one].max(axis=1) for one in set(group)])
        left = last[group].T + 400_000 + generator.integers(0, 10_000, shape)
        told = _rows(begin + came, begin + left, rank, group)
        parts.append(told.with_columns(**_names(name, per_host)))
    event = pl.int_range(pl.len()).over("rank", order_by="start_ns")
    return _whole(pl.concat(parts).with_columns(event=event))


def _rows(came: Times, left: Times, rank: Times, group: Times) -> pl.DataFrame:
    steps = len(came)
    return pl.DataFrame(
        {
            "rank": np.tile(rank, steps),
            "group": np.tile(group, steps),
            "step": np.repeat(np.arange(steps), len(rank)),
            "group_size": np.full(came.size, np.bincount(group)[0]),
            "start_ns": came.ravel(),
            "end_ns": left.ravel(),
        }
    )


def _names(name: str, per_host: int) -> dict[str, pl.Expr]:
    return {
        "file_id": pl.lit("f"),
        "run_id": pl.lit("run"),
        "attempt": pl.lit(0),
        "trace_id": pl.concat_str(pl.lit("t"), "rank"),
        "host": pl.concat_str(pl.lit("node-"), pl.col("rank") // per_host),
        "group_id": pl.concat_str(pl.lit(name), "group"),
        "kind": pl.lit("allreduce"),
        "is_p2p": pl.lit(value=False),
        "sequence": pl.col("step"),
        "match_method": pl.lit("sequence"),
        "duration_ns": pl.col("end_ns") - pl.col("start_ns"),
        "time_basis": pl.lit("gpu"),
        "state": pl.lit("completed"),
    }


def _whole(rows: pl.DataFrame) -> pl.DataFrame:
    schema = Collectives.create_empty().schema
    lacking = {
        column: pl.lit(None, dtype)
        for column, dtype in schema.items()
        if column not in rows.columns
    }
    told = rows.with_columns(**lacking).select(schema.names())
    return told.cast(schema)
