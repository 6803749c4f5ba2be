"""Step logs that hypothesis draws: ranks missing, steps repeated, midnight within."""

from typing import Any, Final

import polars as pl
from hypothesis import strategies as st

from ingest.tables import StepTimings
from ingest.times import DAY_NS, SECOND_NS

#: A midnight, in which the logs below may begin a little before.
MIDNIGHT_NS: Final = 20_000 * DAY_NS

_PARTS: Final = (
    *("compute_ns", "communication_ns", "wait_ns"),
    *("data_ns", "checkpoint_ns"),
)


@st.composite
def step_logs(draw: st.DrawFn, *, is_whole: bool = False) -> pl.DataFrame:
    """Rows of StepTimings of one run, in the order of the table's key.

    Each attempt goes through some steps, some of which it may do again. A row of a rank
    may be missing or lack a part, and a rank may tell a step twice, unless all tell
    every step once.
    """
    ranks = draw(st.integers(1, 4))
    is_named = draw(st.booleans())
    is_ragged = not is_whole and draw(st.booleans())
    moment = MIDNIGHT_NS - draw(st.integers(0, 40)) * SECOND_NS
    rows: list[dict[str, Any]] = []
    for attempt in range(draw(st.integers(1, 2))):
        first = draw(st.integers(0, 5))
        steps = [*range(first, first + draw(st.integers(1, 6)))]
        again = [step for step in steps if step >= steps[0] + draw(st.integers(0, 9))]
        for step in [*steps, *again]:
            took = draw(st.integers(3, 9)) * SECOND_NS
            for rank in range(ranks):
                row = {
                    "attempt": attempt if is_named else None,
                    "step": step,
                    "rank": rank,
                    "start_ns": moment + draw(st.integers(0, 10**9)),
                    **_parts(draw, took),
                }
                if not (is_ragged and draw(st.integers(0, 9)) == 0):
                    rows.append(row)
                if is_ragged and draw(st.integers(0, 9)) == 0:
                    rows.append(row | {"start_ns": row["start_ns"] + 7})
            moment += took + draw(st.integers(1, 3)) * SECOND_NS
        moment += 60 * SECOND_NS
    return framed(rows)


def _parts(draw: st.DrawFn, took: int) -> dict[str, Any]:
    waits = draw(st.integers(0, took // 2))
    told = draw(st.sampled_from(["all", "some", "none"]))
    parts = {
        "all": {"wait_ns": waits, "compute_ns": (took - waits) // 2, "data_ns": 3},
        "some": {"wait_ns": waits},
        "none": {},
    }[told]
    return {"duration_ns": took, "tokens": draw(st.integers(0, 9))} | parts


def framed(rows: list[dict[str, Any]], run_id: str = "r") -> pl.DataFrame:
    """Rows of StepTimings with what is the same in all of them."""
    schema = StepTimings.create_empty().schema
    fixed = {
        "file_id": "f" * 64,
        "run_id": run_id,
        "clock": "host",
        "scope": "rank",
        "step_count": 1,
    }
    told = [fixed | row for row in rows]
    columns = {name: [row.get(name) for row in told] for name in schema}
    return pl.DataFrame(columns, schema=schema).sort(StepTimings.key)
