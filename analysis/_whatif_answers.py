"""Questions asked of a run, by both roads: steps of ranks, and traces of operations."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain
from typing import Any, Final, TypeVar

import polars as pl

from analysis._whatif_asks import Ask, Evidence, ask
from analysis._whatif_change import Change
from analysis._whatif_claims import Claim, Part, Wish, together
from analysis._whatif_fix import Fix, Trace
from analysis._whatif_fixes import fix
from analysis._whatif_joints import with_less_together
from analysis._whatif_orders import blocks_with
from analysis._whatif_questions import (
    Asked,
    Question,
    Resolved,
    joint_of,
    resolve,
    with_joint,
)
from analysis._whatif_replays import steps_with
from analysis._whatif_rows import Answer, row

#: Of a step that several traces tell, the trace with most operations counts.
_BEST: Final = ["name", "attempt", "block", "operations", "trace_id"]

T = TypeVar("T", bound=Resolved)


@dataclass(slots=True)
class Answers:
    """What was answered of a run, and what could not be.

    Attributes:
        rows: Rows of the result table.
        refused: Why a repair could not be told, by its text.
        unfit: Why none of its traces can be replayed; empty where one can.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    unfit: str = ""

    def add(self, other: "Answers") -> None:
        """Add the answers of another road: refused is what no road can tell."""
        self.rows += other.rows
        self.refused |= other.refused
        for answered in [told["repair"] for told in self.rows]:
            self.refused.pop(answered, None)


def answers_of_steps(known: Evidence, question: Question) -> Answers:
    """Answer from the own work of ranks, step by step.

    Args:
        known: The run's steps and power telemetry.
        question: What is asked.
    """
    run = known.run

    def measure(parts: Mapping[str, Sequence[Ask]]) -> pl.DataFrame:
        changes = {
            name: reduce(Change.beside, (one.change for one in some))
            for name, some in parts.items()
        }
        return blocks_with(run, changes)

    method = "waits" if run.is_traced else "order_statistics"
    told = (run.run_id, method)
    return answered_by(told, run.seen, question, lambda part: ask(part, known), measure)


def answered_by(
    told: tuple[str, str],
    seen: pl.DataFrame,
    question: Question,
    read: Callable[[Part], Ask | str],
    measure: Callable[[Mapping[str, Sequence[Ask]]], pl.DataFrame],
) -> Answers:
    """Answer by a road that measures all repairs of a run at once.

    Args:
        told: The run, and the road.
        seen: Seats of the run.
        question: What is asked.
        read: Returns what a repair comes to, or why it cannot be told.
        measure: Returns blocks of steps with each repair.
    """
    asked = resolve(question, read, seen)
    if question.has_joint:
        asked, question = with_joint(asked), replace(question, has_joint=False)
    return _answered([_measured(asked, measure, told, question)])


@dataclass(frozen=True, slots=True)
class Traced:
    """A trace, what is asked of it, and the ranks that its steps hold up. [1]"""

    trace: Trace
    question: Question
    ranks: int


def answers_of_traces(run_id: str, traces: Iterable[Traced]) -> Answers:
    """Answer from the operations of a run's traces, each replayed.

    Args:
        run_id: The run.
        traces: Its traces, one at a time: each is forgotten before the next.
    """
    return _answered([_of_trace(run_id, one) for one in traces])


def _of_trace(run_id: str, one: Traced) -> "_Measured":
    asked = resolve(
        one.question, lambda part: fix(part.repair, one.trace), one.trace.seen
    )

    def measure(parts: Mapping[str, Sequence[Fix]]) -> pl.DataFrame:
        return steps_with(one.trace.replay, parts, one.ranks)

    return _measured(asked, measure, (run_id, "replay"), one.question)


@dataclass(frozen=True, slots=True)
class _Measured:
    """Steps with and without each repair, of a run or of one of its traces."""

    told: tuple[str, str]
    question: Question
    wishes: Mapping[str, Wish]
    claims: Mapping[str, Claim]
    refused: Mapping[str, str]
    blocks: pl.DataFrame

    def rows(self) -> list[dict[str, Any]]:
        limits, paid = self.question.limits, self.question.paid
        rows = [
            row(
                Answer(*self.told, wish, self.claims[name]),
                self.blocks.filter(pl.col("name") == name),
                limits,
                paid,
            )
            for name, wish in self.wishes.items()
        ]
        return with_less_together(rows, self.wishes)


def _measured(
    asked: Asked[T],
    measure: Callable[[Mapping[str, Sequence[T]]], pl.DataFrame],
    told: tuple[str, str],
    question: Question,
) -> _Measured:
    claims = {name: asked.claim(name) for name in asked.wishes}
    blocks = measure(asked.parts)
    alone = _Measured(told, question, asked.wishes, claims, asked.refused, blocks)
    joint = joint_of(asked, alone.rows()) if question.has_joint else None
    if joint is None:
        return alone
    wish, parts = joint
    added = measure({wish.name: parts}).filter(pl.col("name") == wish.name)
    return replace(
        alone,
        wishes={**asked.wishes, wish.name: wish},
        claims={**claims, wish.name: together([part.claim for part in parts])},
        blocks=pl.concat([blocks, added]),
    )


def _answered(measured: Sequence[_Measured]) -> Answers:
    """Return the answers of a run: its traces taken together."""
    if not measured:
        return Answers()
    first = measured[0]
    whole = replace(
        first,
        wishes=dict(chain.from_iterable(one.wishes.items() for one in measured[::-1])),
        claims=dict(chain.from_iterable(one.claims.items() for one in measured[::-1])),
        blocks=_each_step_once([one.blocks for one in measured]),
    )
    refused = dict(chain.from_iterable(one.refused.items() for one in measured))
    left = {text: why for text, why in refused.items() if text not in whole.wishes}
    return Answers(whole.rows(), left)


def _each_step_once(blocks: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the steps of traces; one that several tell from the fullest of them."""
    if len(blocks) == 1:
        return blocks[0]
    down = [name == "operations" for name in _BEST]
    told = pl.concat(blocks).sort(_BEST, descending=down)
    return told.unique(_BEST[:3], keep="first", maintain_order=True)
