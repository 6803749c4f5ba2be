"""Traces of one device, drawn as lists of what ran when."""

from collections.abc import Iterable
from typing import Any

import polars as pl

from analysis import Frames
from analysis.attempts import Attempts
from analysis.overlap import Overlap, measure_overlap
from analysis.overlap_groups import OverlapGroups, measure_groups
from analysis.runs import Runs
from ingest.tables import Collectives, Kernels, Table

THRESHOLDS = {"hiding_least_kernels": 2, "hiding_least_share": 0.5}

#: What it is, start, duration and step (None: no launch in the trace). What is not
#: compute or memory is a kind of collective, then its group and what that is for.
Work = tuple[str, int, int, int | None]


def frame(table: type[Table], rows: list[dict[str, Any]]) -> pl.DataFrame:
    schema = table.create_empty().schema
    columns = {name: [row.get(name) for row in rows] for name in schema}
    return pl.DataFrame(columns, schema=schema, strict=False)


def frames_of(
    work: Iterable[Work], *, told: bool = True, layout: dict[str, Any] | None = None
) -> Frames:
    kernels, collectives = [], []
    for event, (what, start, duration, step) in enumerate(work):
        kind, group, purpose = (*what.split(" "), "", "")[:3]
        category = kind if kind in {"compute", "memory"} else "communication"
        same = {
            "file_id": "f",
            "run_id": "run",
            "attempt": 0,
            "trace_id": "t",
            "rank": 0,
            "device": 0,
            "stream": 7,
            "event": event,
            "start_ns": start,
            "step": step,
        }
        kernels.append(
            same
            | {
                "name": f"nccl_{kind}" if category == "communication" else kind,
                "category": category,
                "duration_ns": duration,
                "linked": step is not None,
            }
        )
        if told and category == "communication":
            collectives.append(
                same
                | {
                    "group_id": group,
                    "group_size": group.count(",") + 1,
                    "parallel_kind": purpose or None,
                    "kind": kind,
                    "is_p2p": kind in {"send", "recv"},
                    "match_method": "order",
                    "end_ns": start + duration,
                    "duration_ns": duration,
                    "time_basis": "gpu",
                    "state": "completed",
                }
            )
    attempts = Attempts.create_empty().lazy()
    rows = frame(Kernels, kernels)
    run = {"run_id": "run", "billing": "allocated", "has_card": True}
    runs = [run | layout] if layout else []
    return Frames(
        {
            Kernels: rows.lazy(),
            Collectives: frame(Collectives, collectives).lazy(),
            Runs: frame(Runs, runs).lazy(),
            Overlap: measure_overlap(Kernels.cast(rows.lazy()), attempts).lazy(),
        }
    )


def measure(work: Iterable[Work], **other: Any) -> pl.DataFrame:
    found, _ = measure_groups(frames_of(work, **other), THRESHOLDS)
    assert OverlapGroups.is_valid(found)
    return found


def split_of(found: pl.DataFrame, split: str, step: int | None = None) -> Any:
    """The rows of a split: on, overlapped, exposed and exposed alone, by name."""
    chosen = found.filter(
        pl.col("split") == split, pl.col("step").eq_missing(pl.lit(step, pl.Int64))
    )
    name = pl.concat_str(
        "parallel_kind", "kind", "group_id", separator=" ", ignore_nulls=True
    )
    rows = chosen.select(
        pl.when("is_shared").then(pl.lit("shared")).otherwise(name),
        "communication_ns",
        "overlapped_ns",
        "exposed_ns",
        "exposed_alone_ns",
    )
    return {row[0]: row[1:] for row in rows.iter_rows()}
