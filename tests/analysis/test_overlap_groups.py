"""Which communication is exposed, against drawn timelines and sets of nanoseconds."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given, settings

from analysis import Frames
from analysis.attempts import Attempts
from analysis.overlap import Overlap, measure_overlap
from analysis.overlap_groups import OverlapGroups, measure_groups
from analysis.runs import Runs
from ingest.tables import Collectives, Kernels, Table
from tests.examples import examples

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


#: time            0    5    10   15   20   25
#: compute         ######         ###
#: tp all-reduce      ######        ####
#: dp all-reduce             ####
#: dp all-gather         ######
#: step            |0                  |1
DRAWN: list[Work] = [
    ("compute", 0, 6, 0),
    ("allreduce 1:[0,1] tp", 3, 6, 0),
    ("_allgather_base 9:[0,2] dp", 6, 6, 0),
    ("allreduce 9:[0,2] dp", 10, 4, 0),
    ("compute", 15, 3, 0),
    ("allreduce 1:[0,1] tp", 17, 4, None),
    ("compute", 20, 6, 1),
]


def test_a_drawn_step_by_kind_and_by_group() -> None:
    found = measure(DRAWN)
    # all-reduce 3 to 9, 10 to 14 and 17 to 20; all-gather 6 to 12; compute to 6 and
    # 15 to 18; both at once 6 to 9 and 10 to 12
    assert split_of(found, "kind", 0) == {
        "allreduce": (13, 4, 9, 4),
        "allgather": (6, 0, 6, 1),
        "shared": (5, 0, 5, 5),
    }
    # dp is one group, on from 6 to 14
    assert split_of(found, "parallel", 0) == {
        "tp": (9, 4, 5, 2),
        "dp": (8, 0, 8, 5),
        "shared": (3, 0, 3, 3),
    }
    assert split_of(found, "parallel_and_kind", 0) == {
        "tp allreduce": (9, 4, 5, 2),
        "dp allgather": (6, 0, 6, 1),
        "dp allreduce": (4, 0, 4, 2),
        "shared": (5, 0, 5, 5),
    }
    assert split_of(found, "group", 0) == {
        "tp 1:[0,1]": (9, 4, 5, 2),
        "dp 9:[0,2]": (8, 0, 8, 5),
        "shared": (3, 0, 3, 3),
    }


def test_a_collective_is_cut_at_the_step_and_counted_where_it_starts() -> None:
    found = measure(DRAWN)
    # the last all-reduce runs from 17 to 21, and step 1 begins at 20, with compute
    assert split_of(found, "parallel", 1) == {"tp": (1, 1, 0, 0)}
    assert split_of(found, "parallel")["tp"] == (10, 5, 5, 2)
    tp = found.filter(split="parallel", parallel_kind="tp").sort("step")
    counts = tp.select("step", "collectives_count", "linked_ratio", "span_ns").rows()
    assert counts == [(None, 2, 0.5, 26), (0, 2, 0.5, 20), (1, 0, None, 6)]


def test_without_a_collective_the_name_tells_the_kind_and_nothing_the_group() -> None:
    found = measure([("compute", 0, 5, 0), ("allgather", 3, 7, 0)], told=False)
    assert split_of(found, "kind", 0) == {"allgather": (7, 2, 5, 5)}
    assert split_of(found, "group", 0) == {"unknown unknown": (7, 2, 5, 5)}


def test_sends_and_receives_are_one_kind() -> None:
    found = measure([("send 5:[0,4] pp", 0, 5, 0), ("recv 5:[0,4] pp", 3, 7, 0)])
    assert split_of(found, "parallel_and_kind", 0) == {"pp sendrecv": (10, 0, 10, 10)}


def test_without_communication_there_are_no_rows() -> None:
    assert measure([("compute", 0, 5, 0), ("memory", 3, 7, 0)]).is_empty()
    assert measure([]).is_empty()


#: 2 x 2 x 2 x 4 ranks: tp runs fastest, then cp, pp and dp. Two experts are spread
#: over the 8 positions of cp and dp, in turn.
LAYOUT = {"tp": 2, "cp": 2, "pp": 2, "dp": 4, "ep": 2, "rank_order": "tp,cp,pp,dp"}


@pytest.mark.parametrize(
    ("group", "axis"),
    [
        ("allreduce 1:[0,1]", "tp"),
        ("send 2:[0,4]", "pp"),
        ("allgather 3:[0,2]", "cp"),
        ("alltoall 3:[0,2]", "ep"),  # the same members, and tokens are exchanged
        ("allreduce 4:[0,8,16,24]", "dp"),  # also those with the same experts
        ("allreduce 5:[0,2,8,10,16,18,24,26]", "dp"),  # over context, too
        ("allreduce 6:[0,1,2,3]", "unknown"),  # of several axes
        ("allreduce 7:[0,16]", "unknown"),  # half of an axis
        ("allreduce 8:" + str([*range(32)]).replace(" ", ""), "world"),
        ("allreduce 9", "unknown"),  # tells no members
    ],
)
def test_the_layout_tells_what_a_group_is_for(group: str, axis: str) -> None:
    found = measure([(group, 0, 5, 0)], layout=LAYOUT)
    (row,) = found.filter(split="group", step=0).to_dicts()
    assert row["parallel_kind"] == axis
    assert row["parallel_basis"] == ("unknown" if axis == "unknown" else "layout")


def test_experts_spread_over_half_of_an_axis_have_groups_of_their_own() -> None:
    # dp 8, ep 4: the ranks of one set of experts are 0 to 3, its copies are 0 and 4
    layout = {"tp": 1, "cp": 1, "pp": 1, "dp": 8, "ep": 4}
    for group, axis in (("alltoall 1:[0,1,2,3]", "ep"), ("allreduce 2:[0,4]", "dp")):
        found = measure([(group, 0, 5, 0)], layout=layout)
        (row,) = found.filter(split="group", step=0).to_dicts()
        assert row["parallel_kind"] == axis


def test_a_description_comes_before_the_layout() -> None:
    found = measure([("allreduce 1:[0,1] dp", 0, 5, 0)], layout=LAYOUT)
    (row,) = found.filter(split="group", step=0).to_dicts()
    assert (row["parallel_kind"], row["parallel_basis"]) == ("dp", "description")


def test_the_world_of_a_run_along_one_axis_is_that_axis() -> None:
    alone = {"tp": 1, "cp": 1, "pp": 1, "dp": 4}
    work = [("allreduce 0:[0,1,2,3] world", 0, 5, 0)]
    (row,) = measure(work, layout=alone).filter(split="group", step=0).to_dicts()
    assert (row["parallel_kind"], row["parallel_basis"]) == ("dp", "layout")
    (row,) = measure(work, layout=LAYOUT).filter(split="group", step=0).to_dicts()
    assert (row["parallel_kind"], row["parallel_basis"]) == ("world", "description")


#   ---- any trace


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


def test_the_cost_of_hiding_is_between_medians_of_one_kernel() -> None:
    # three of 10 ns alone; two of 14 ns of which 10 and 14 are beside communication;
    # one of 12 ns of which 2 are: neither
    work: list[Work] = [
        *[("compute", at, 10, 0) for at in (0, 20, 40)],
        *[("compute", at, 14, 0) for at in (100, 120)],
        ("allreduce 1:[0,1] tp", 104, 40, 0),
        ("compute", 142, 12, 0),
    ]
    for chunk_rows in (1, 2, 1_000):
        _, costs = measure_groups(frames_of(work), THRESHOLDS, chunk_rows)
        (row,) = costs.to_dicts()
        assert (row["alone_count"], row["overlapped_count"]) == (3, 2)
        assert (row["alone_ns"], row["overlapped_ns"]) == (10, 14)
        assert (row["slowdown_ratio"], row["cost_ns"]) == (1.4, 8)


def test_too_few_kernels_tell_no_cost() -> None:
    work: list[Work] = [
        *[("compute", at, 10, 0) for at in (0, 20, 40)],
        ("compute", 100, 14, 0),
        ("allreduce 1:[0,1] tp", 100, 40, 0),
    ]
    _, costs = measure_groups(frames_of(work), THRESHOLDS)
    assert costs.is_empty()
