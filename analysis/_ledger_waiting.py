"""How a rank spent a step, from operations of which the waits are known."""

from typing import Final

import numpy as np
import polars as pl

from analysis._ledger_held import Pieces, Waits, held_by, pieces_of
from analysis._ledger_line import Line, Numbers, Spans, added, gaps_on, seats_of
from analysis._replay_kinds import (
    CLIP,
    DP_KINDS,
    EMBEDDING,
    GARBAGE,
    LAYERNORM,
    OPTIMIZER,
    PASSES,
    PEERS,
)
from analysis.intervals import END, START

#: A step of a rank.
RANK_STEP: Final = ("step", "rank")

#: What a rank does in an operation: compute, in passes or else; wait for other replicas
#: of its stage; wait for other stages; move data with nobody that is seen; collect
#: garbage, which is no work; wait for all others to end theirs.
_PASS, _COMPUTE, _REPLICAS, _STAGES, _MOVES, _GARBAGE, _AT_END = range(7)

_ROLES: Final = {
    **dict.fromkeys(PASSES, _PASS),
    OPTIMIZER: _COMPUTE,
    **dict.fromkeys(DP_KINDS, _REPLICAS),
    **dict.fromkeys((*PEERS, EMBEDDING, CLIP), _STAGES),
    LAYERNORM: _MOVES,
    GARBAGE: _GARBAGE,
}

#: What is measured of a step. [ns]
MEASURES: Final = (
    *("replicas_ns", "stages_ns", "quiet_ns", "communication_ns", "compute_ns"),
    *("garbage_ns", "short_ns"),
)

#: Longest time with nothing on that launches and the host explain: a launch takes tens
#: of microseconds, and published starts and lengths are rounded by up to as much. What
#: is longer may be work or waiting that the tracer has no kind for. [ns]
SHORT_NS: Final = 10_000_000

#: Times of an operation. [ns]
_TIMES: Final = (START, END, "until_ns")


def spent(rows: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Say how each rank spent each step.

    A rank that has ended its operations before the last rank of the step waits for
    others until then: ranks leave a synchronous step together.

    Args:
        rows: Columns of RANK_STEP, kind, start_ns, end_ns and until_ns, when what it
            waited for had come: start_ns where no wait is known. [ns]
        windows: Columns of RANK_STEP, start_ns, end_ns and ended_ns, when the last rank
            ended its operations; one row for each rank and step. [ns]

    Returns:
        Columns of RANK_STEP and MEASURES: waits for replicas and for stages that no
        compute hides, time with nothing on between the first pass of any rank of the
        step and the last, the rest of what communication compute does not hide,
        compute, collection of garbage with nothing else on, and gaps with nothing on
        that last up to SHORT_NS each. In the rest of the window nothing is recorded.
        [ns]
    """
    known = _known(rows, windows)
    passes = known.filter(pl.col("role") == _PASS).group_by("step")
    bounds = passes.agg(first_ns=pl.col(START).min(), last_ns=pl.col(END).max())
    seats = windows.join(bounds, on="step", how="left", maintain_order="left")
    most = seats_of(_spans(windows))
    none = pl.DataFrame(schema=dict.fromkeys(MEASURES, pl.Int64))
    parts = [none]
    for first in range(0, windows.height, most):
        own = pl.col("seat").is_between(first, first + most, closed="left")
        here = known.filter(own).with_columns(pl.col("seat") - first)
        parts.append(_of_seats(here, seats.slice(first, most)))
    return pl.concat([windows.select(RANK_STEP), pl.concat(parts)], how="horizontal")


def _known(rows: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Give operations their role and seat, and cut them at the bounds of their step."""
    role = pl.col("kind").replace_strict(
        list(_ROLES), list(_ROLES.values()), default=None, return_dtype=pl.Int64
    )
    named = rows.select(*RANK_STEP, *_TIMES, role=role)
    bounds = windows.select(
        *RANK_STEP, _from=START, _to=END, seat=pl.int_range(pl.len(), dtype=pl.Int64)
    )
    joined = named.filter(pl.col("role").is_not_null()).join(bounds, on=RANK_STEP)
    times = [pl.col(name).clip("_from", "_to") for name in _TIMES]
    cut = joined.with_columns(times).filter(pl.col(START) < pl.col(END))
    return cut.drop("_from", "_to")


def _spans(rows: pl.DataFrame) -> Spans:
    return Spans(rows[START].to_numpy(), rows[END].to_numpy())


def _of_seats(known: pl.DataFrame, seats: pl.DataFrame) -> pl.DataFrame:
    """Return MEASURES of seats that fit on one line."""
    line = Line.of(_spans(seats))
    pauses = known.filter(pl.col("role") == _GARBAGE)
    known = known.filter(pl.col("role") != _GARBAGE)
    seat, role = known["seat"].to_numpy(), known["role"].to_numpy()
    spans = _placed(line, known)
    until = line.place(seat, known["until_ns"].to_numpy())
    is_work = role <= _COMPUTE
    gaps = gaps_on(line, spans.take(is_work))
    waits = Waits(spans.take(~is_work), until[~is_work], role[~is_work])
    last = np.full(seats.height, -1, dtype=np.int64)
    np.maximum.at(last, seat, spans.end)
    early = _left_early(line, last, seats["ended_ns"].to_numpy())
    pieces = pieces_of(waits.and_also(early), gaps)
    quiet = _quiet(line, seats, gaps, pieces.spans)
    return pl.DataFrame(
        {
            **_communicated(line, pieces),
            "quiet_ns": np.where(last >= 0, quiet, 0),
            "compute_ns": line.window.length - line.sums(gaps.start, gaps.length),
            **_off(line, _joined(spans, early.spans), _placed(line, pauses)),
        }
    ).select(MEASURES)


def _off(line: Line, on: Spans, pauses: Spans) -> dict[str, Numbers]:
    """Return how long each rank did nothing but pause, and its short gaps. [ns]"""
    gaps, silent = gaps_on(line, on), gaps_on(line, _joined(on, pauses))
    short = silent.take(silent.length <= SHORT_NS)
    whole, rest = (line.sums(one.start, one.length) for one in (gaps, silent))
    return {
        "garbage_ns": whole - rest,
        "short_ns": line.sums(short.start, short.length),
    }


def _joined(one: Spans, other: Spans) -> Spans:
    return Spans(*(np.concatenate(two) for two in zip(one, other, strict=True)))


def _placed(line: Line, rows: pl.DataFrame) -> Spans:
    seat = rows["seat"].to_numpy()
    return Spans(*(line.place(seat, rows[name].to_numpy()) for name in _TIMES[:2]))


def _left_early(line: Line, last: Numbers, ended: Numbers) -> Waits:
    """Return the time of each rank from its last operation to the end of the others."""
    alone = np.flatnonzero(last >= 0)
    whole = Spans(last[alone], line.place(alone, ended[alone]))
    spans = whole.take(whole.length > 0)
    return Waits(spans, spans.end, np.full(len(spans.end), _AT_END, dtype=np.int64))


def _communicated(line: Line, pieces: Pieces) -> dict[str, Numbers]:
    """Return how long ranks waited for others, and the rest of communication. [ns]"""
    held, role, at = held_by(pieces), pieces.role, pieces.spans.start
    replicas, stages, end = (
        line.sums(at, np.where(role == one, held, 0))
        for one in (_REPLICAS, _STAGES, _AT_END)
    )
    seen = pieces.spans.take(role != _AT_END)
    return {
        "replicas_ns": replicas,
        "stages_ns": stages + end,
        "communication_ns": line.sums(seen.start, added(seen)) - replicas - stages,
    }


def _quiet(line: Line, seats: pl.DataFrame, gaps: Spans, on: Spans) -> Numbers:
    """Return how long each rank had nothing on while passes of its step went on. [ns]

    Args:
        line: The windows.
        seats: Columns first_ns and last_ns: bounds of all passes, null without. [ns]
        gaps: Gaps in compute, on the line.
        on: What was on in them, sorted by start.
    """
    seat = np.arange(seats.height, dtype=np.int64)
    bounds = seats.select(pl.col("first_ns", "last_ns").fill_null(pl.col(START)))
    first, last = (line.place(seat, bounds[name].to_numpy()) for name in bounds.columns)
    inside, covered = (
        spans.cut(first[spans.start // line.stride], last[spans.start // line.stride])
        for spans in (gaps, on)
    )
    whole = line.sums(gaps.start, inside.length)
    return whole - line.sums(on.start, added(covered))
