"""Parts of the communication of any trace, against sets of nanoseconds."""

from collections.abc import Callable, Mapping
from typing import Final

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given, settings

from analysis import Frames
from analysis.overlap import Overlap
from analysis.overlap_groups import measure_groups
from ingest.tables import Collectives, Kernels, Table
from tests.analysis.timelines import THRESHOLDS, Work, frames_of, split_of
from tests.examples import examples

pytestmark = pytest.mark.thorough

KINDS = (
    "compute",
    "memory",
    "allreduce 1:[0,1] tp",
    "allgather 9:[0,2] dp",
    "allreduce 9:[0,2] dp",
    "allreduce 7:[0,3]",
)
WORK = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.integers(0, 40),
        st.integers(0, 12),
        st.sampled_from([None, 0, 1]),
    ),
    min_size=1,
    max_size=14,
)
OF_SPLIT: Final[Mapping[str, Callable[[list[str]], str]]] = {
    "kind": lambda what: what[0].removeprefix("_"),
    "parallel": lambda what: (*what, "unknown")[2],
    "parallel_and_kind": lambda what: f"{(*what, 'unknown')[2]} {what[0]}",
    "group": lambda what: f"{(*what, 'unknown')[2]} {what[1]}",
}


@settings(max_examples=examples(100), deadline=None)
@given(WORK, st.sampled_from([2, 5, 1_000]), st.sampled_from(sorted(OF_SPLIT)))
def test_parts_add_up_to_what_is_exposed_and_are_those_of_sets(
    work: list[Work], chunk_rows: int, split: str
) -> None:
    frames = frames_of(work)
    found, _ = measure_groups(frames, THRESHOLDS, chunk_rows)
    for window in frames[Overlap].collect().to_dicts():
        span = range(window["start_ns"], window["start_ns"] + window["span_ns"])
        compute = {t for w, s, d, _ in work if w == "compute" for t in range(s, s + d)}
        on: dict[str, set[int]] = {}
        for what, start, duration, _ in work:
            if what not in {"compute", "memory"}:
                times = on.setdefault(OF_SPLIT[split](what.split(" ")), set())
                times |= set(range(start, start + duration)) & set(span)
        expected = {
            name: (
                len(times),
                len(times & compute),
                len(times - compute),
                len(times - compute - set().union(*(on[o] for o in on if o != name))),
            )
            for name, times in on.items()
            if times
        }
        both = {t for t in span if sum(t in times for times in on.values()) > 1}
        if both:
            free = len(both - compute)
            expected["shared"] = (len(both), len(both & compute), free, free)
        rows = split_of(found, split, window["step"])
        got = {name: values for name, values in rows.items() if values[0]}
        assert got == expected
        alone = sum(values[3] for values in rows.values())
        assert alone == window["exposed_communication_ns"]


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(st.lists(WORK, min_size=2, max_size=3), st.sampled_from([1, 3, 7, 1_000]))
def test_traces_together_in_any_chunks_are_those_apart(
    works: list[list[Work]], chunk_rows: int
) -> None:
    least = {"hiding_least_kernels": 1, "hiding_least_share": 0.5}
    apart = [
        {table: frame.with_columns(trace_id=pl.lit(f"t{number}")) for table, frame in f}
        for number, f in enumerate(map(tables_of, works))
    ]
    together = {
        table: pl.concat([one[table] for one in apart]).lazy() for table in apart[0]
    }
    found = measure_groups(Frames(together), least, chunk_rows)
    each = [
        measure_groups(Frames({t: f.lazy() for t, f in one.items()}), least)
        for one in apart
    ]
    for place in (0, 1):
        expected = pl.concat([one[place] for one in each])
        assert found[place].equals(expected)


def tables_of(work: list[Work]) -> list[tuple[type[Table], pl.DataFrame]]:
    frames = frames_of(work)
    return [(t, frames[t].collect()) for t in (Kernels, Collectives, Overlap)]
