"""How ranks spend a step, against a count of single nanoseconds."""

from typing import Final

import hypothesis.strategies as st
import polars as pl
from hypothesis import given, settings

from analysis._ledger_line import LINE_MAX
from analysis._ledger_waiting import MEASURES, SHORT_NS, spent

#: Two kinds of each role.
COMPUTE: Final = ("forward-compute", "optimizer")
REPLICAS: Final = ("params-all-gather", "grads-reduce-scatter")
STAGES: Final = ("forward-send", "backward-recv")
MOVES: Final = ("layernorm-grads-all-reduce",)
GARBAGE: Final = ("gc",)

#: Step, rank, kind, start, end, end of the wait.
Drawn = tuple[int, int, str, int, int, int]

#: The last four of these.
Cut = tuple[str, int, int, int]

#: Step to the start of its window, its end, and when the last rank ended.
WINDOWS: Final = {0: (3, 40, 30), 1: (0, 33, 50)}
RANKS: Final = (0, 1)


def measured(drawn: list[Drawn], scale: int = 1) -> dict[tuple[int, int], list[int]]:
    """What is measured of each step and rank, all times scaled."""
    times = ["start_ns", "end_ns", "until_ns"]
    schema = dict(zip(["step", "rank", "kind", *times], [pl.Int64] * 6, strict=True))
    rows = pl.DataFrame(drawn, schema=schema | {"kind": pl.String}, orient="row")
    windows = pl.DataFrame(
        [(step, rank, *bounds) for step, bounds in WINDOWS.items() for rank in RANKS],
        schema=["step", "rank", "start_ns", "end_ns", "ended_ns"],
        orient="row",
    )
    found = spent(
        rows.with_columns(pl.col(times) * scale),
        windows.with_columns(pl.col("start_ns", "end_ns", "ended_ns") * scale),
    )
    by_seat = found.select("step", "rank", *MEASURES).rows()
    return {(step, rank): list(told) for step, rank, *told in by_seat}


def role_of(kind: str) -> str:
    """What a rank does in an operation."""
    roles = {"compute": COMPUTE, "replicas": REPLICAS, "stages": STAGES, "moves": MOVES}
    return next((role for role, kinds in roles.items() if kind in kinds), "end")


def clip(time: int, first: int, last: int) -> int:
    """A time within bounds."""
    return min(max(time, first), last)


def clipped(drawn: list[Drawn], step: int, ranks: tuple[int, ...]) -> list[Cut]:
    """The operations of ranks in a step, within its window."""
    first, last, _ = WINDOWS[step]
    cut: list[Cut] = [
        (
            kind,
            clip(start, first, last),
            clip(end, first, last),
            clip(until, first, last),
        )
        for there, of, kind, start, end, until in drawn
        if there == step and of in ranks
    ]
    return [one for one in cut if one[1] < one[2]]


def nanoseconds(rows: list[Cut], kinds: tuple[str, ...]) -> set[int]:
    """When any operation of some kinds is on."""
    of_kind = [(start, end) for kind, start, end, _ in rows if kind in kinds]
    return {now for start, end in of_kind for now in range(start, end)}


def counted(drawn: list[Drawn], step: int, rank: int, scale: int) -> list[int]:
    """The same, nanosecond by nanosecond."""
    is_coarse = scale > 1
    first, last, ended = WINDOWS[step]
    every = clipped(drawn, step, (rank,))
    own = [one for one in every if one[0] not in GARBAGE]
    others = [one for one in own if role_of(one[0]) != "compute"]
    left = max((end for _, _, end, _ in own), default=last)
    if left < min(ended, last):
        others.append(("end", left, min(ended, last), min(ended, last)))
    passes = nanoseconds(clipped(drawn, step, RANKS), PASS)
    work = nanoseconds(own, COMPUTE)
    held = dict.fromkeys(("replicas", "stages", "moves", "end"), 0)
    seen = quiet = short = 0
    on = {now for _, since, until, _ in others for now in range(since, until)} | work
    pauses = nanoseconds(every, GARBAGE) - on
    for now in sorted(set(range(first, last)) - work):
        kinds = [kind for kind, since, until, _ in others if since <= now < until]
        seen += any(kind != "end" for kind in kinds)
        is_between = bool(passes) and min(passes) <= now <= max(passes)
        quiet += bool(own) and is_between and not kinds
        since, until = gap_around(now, on | pauses, first, last)
        is_silent = now not in on | pauses
        short += is_silent and (until - since) * scale <= SHORT_NS
        gap = gap_around(now, work, first, last)
        for role in held_at(now, others, gap, is_coarse):
            held[role] += 1
    moved = seen - held["replicas"] - held["stages"]
    stages = held["stages"] + held["end"]
    return [held["replicas"], stages, quiet, moved, len(work), len(pauses), short]


def gap_around(now: int, work: set[int], first: int, last: int) -> tuple[int, int]:
    """Bounds of the gap in compute that a nanosecond is in."""
    before = [one + 1 for one in work if one < now]
    after = [one for one in work if one > now]
    return max([first, *before]), min([last, *after])


def held_at(
    now: int,
    others: list[Cut],
    gap: tuple[int, int],
    is_coarse: bool,
) -> list[str]:
    """What is waited for: of all begun the one that ends last before work goes on."""
    begun = [
        (
            is_coarse and end > gap[1],
            -min(end, gap[1]),
            -until,
            max(start, gap[0]),
            ORDER.index(role_of(kind)),
        )
        for kind, start, end, until in others
        if start <= now and end > gap[0]
    ]
    if not begun:
        return []
    _, end, until, _, role = min(begun)
    return [ORDER[role]] if now < min(-end, -until) else []


ORDER: Final = ("replicas", "stages", "moves", "end")
PASS: Final = COMPUTE[:1]

drawn_rows = st.lists(
    st.tuples(
        st.sampled_from(sorted(WINDOWS)),
        st.sampled_from(RANKS),
        st.sampled_from([*COMPUTE, *REPLICAS, *STAGES, *MOVES, *GARBAGE]),
        st.integers(0, 45),
        st.integers(0, 14),
        st.integers(0, 14),
    ).map(lambda one: (*one[:4], one[3] + one[4], one[3] + min(one[4], one[5]))),
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(drawn_rows, st.sampled_from([1, 2_000, SHORT_NS // 4, LINE_MAX // 64]))
def test_steps_are_spent_as_nanoseconds_are_counted(
    drawn: list[Drawn], scale: int
) -> None:
    # a nanosecond drawn is many: past the rounding of profilers, so many that only
    # gaps of four are short, and so many that no two windows fit on one line
    told = measured(drawn, scale)
    for (step, rank), found in told.items():
        expected = counted(drawn, step, rank, scale)
        assert found == [one * scale for one in expected]
