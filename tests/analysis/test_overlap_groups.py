"""Which communication is exposed, and what hiding costs, on drawn timelines."""

from analysis import Frames
from analysis.overlap import Overlap
from analysis.overlap_groups import measure_groups
from ingest.tables import Collectives, Kernels
from tests.analysis.timelines import THRESHOLDS, Work, frames_of, measure, split_of

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


def test_the_order_of_rows_does_not_matter() -> None:
    again = [(what, start + 100, length, 2) for what, start, length, _ in DRAWN]
    frames = frames_of([*DRAWN, *again, ("compute", 300, 5, 2)])
    least = {"hiding_least_kernels": 1, "hiding_least_share": 0.5}
    turned = Frames({t: frames[t].reverse() for t in (Kernels, Collectives, Overlap)})
    for one, other in zip(
        measure_groups(frames, least, 3), measure_groups(turned, least, 3), strict=True
    ):
        assert one.height
        assert one.equals(other)
