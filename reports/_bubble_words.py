"""Sentences on pipeline bubbles: how large, against what, and what adds to them."""

from typing import Final, NamedTuple

import polars as pl

from reports._numbers import duration, percent
from reports._words import listed, plural

#: What a replay tells apart, in words.
CAUSES: Final = {
    "imbalance_ns": "stages out of balance",
    "straggler_ns": "slow workers and unequal micro-batches",
    "communication_ns": "transfers between stages",
}

#: The first two of them, where too few replicas tell them apart.
_TOGETHER: Final = {
    "uneven_ns": "slow workers and stages out of balance, not told apart,",
}

#: Why this number is not the account of the same name.
_RECONCILED: Final = (
    "This bubble is all time in which a stage computes no pass. The account pipeline"
    " bubble in the ledger is the part of it spent waiting for another stage, imbalance"
    " included; waits for late ranks and transfers that nothing hides stand in"
    " straggler wait and exposed communication there."
)

#: A measured bubble is about the schedule's up to this much above it. [1]
_ABOUT: Final = 0.1


class Total(NamedTuple):
    """All stages that were measured, together. [ns, 1]"""

    bubble: int
    compute: int
    step: int
    expected: float | None
    causes: dict[str, int]

    @property
    def ratio(self) -> float:
        """Bubble over compute. [1]"""
        return self.bubble / self.compute


def total_of(rows: pl.DataFrame) -> Total:
    """Add up rows of PipelineBubbles; what one does not tell is not told of all."""
    computed = pl.col("compute_ns").cast(pl.Float64)
    expected = (pl.col("expected_ratio") * computed).sum() / computed.sum()
    is_known = pl.col("expected_ratio").null_count() == 0
    told = rows.select(expected=pl.when(is_known).then(expected))["expected"][0]
    known = [name for name in CAUSES if not rows[name].null_count()]
    if not {"imbalance_ns", "straggler_ns"} <= set(known):
        both = [name for name in _TOGETHER if not rows[name].null_count()]
        known = [*both, *[name for name in known if name == "communication_ns"]]
    return Total(
        bubble=_sum(rows, "bubble_ns"),
        compute=_sum(rows, "compute_ns"),
        step=_sum(rows, "step_ns"),
        expected=told,
        causes={name: _sum(rows, name) for name in known},
    )


def _sum(rows: pl.DataFrame, column: str) -> int:
    return int(rows[column].cast(pl.Int128).sum())


def heading(total: Total, whose: str = "") -> str:
    """Return the finding with its numbers.

    Args:
        total: All stages together.
        whose: Runs that it is of, as " of a"; empty on a page about one run.
    """
    share, ratio = percent(total.bubble / total.step), percent(total.ratio)
    if total.expected is None:
        return (
            f"Pipeline stages{whose} compute nothing for {share} of their steps; what"
            " the schedule would have in balance is not known."
        )
    expected = percent(total.expected)
    if total.ratio <= total.expected * (1 + _ABOUT):
        return (
            f"The pipeline's bubble{whose} is {ratio} of compute, {share} of the steps:"
            f" about the {expected} that its schedule has in balance."
        )
    return (
        f"The pipeline's bubble{whose} is {ratio} of compute where its schedule has"
        f" {expected} in balance, and takes {share} of the steps{_most(total)}."
    )


def _most(total: Total) -> str:
    above = total.bubble - (total.expected or 0) * total.compute
    cause, ns = max(total.causes.items(), key=lambda one: one[1], default=("", 0))
    return f"; {_said(cause)} add most" if ns > above / 2 else ""


def _said(cause: str) -> str:
    return (CAUSES | _TOGETHER)[cause]


def paragraphs(rows: pl.DataFrame, total: Total) -> list[str]:
    """Return what was measured, what adds to it, and what is not told."""
    said = [_layout(rows)]
    if total.causes:
        parts = [
            f"{_said(name)} {'add' if ns >= 0 else 'take'} {duration(abs(ns))}"
            for name, ns in sorted(total.causes.items(), key=lambda one: -one[1])
        ]
        said.append(
            f"Of {duration(total.bubble)} in GPU time, by replay of the same"
            f" operations: {listed(parts)}. The rest is the schedule's."
        )
    said.append(_RECONCILED)
    each = rows["reason"].drop_nulls().str.split("; ").explode()
    reasons = each.unique().sort().to_list()
    if reasons:
        said.append(f"Limits: {listed(reasons)}.")
    return said


def _layout(rows: pl.DataFrame) -> str:
    shapes = rows.select("stages", "chunks", "microbatches").unique().drop_nulls()
    steps = int(
        rows.group_by("run_id", "trace_id")
        .agg(pl.col("steps_count").max())["steps_count"]
        .sum()
    )
    seen = f"Seen in {plural(steps, 'traced step')}"
    if shapes.height != 1:
        return f"{seen} of pipelines of several shapes."
    stages, chunks, batches = shapes.row(0)
    parts = [
        plural(stages, "stage"),
        plural(chunks, "chunk of layers each", "chunks of layers each"),
        plural(batches, "micro-batch", "micro-batches"),
    ]
    return f"{seen}: {listed(parts)} in a step and replica."
