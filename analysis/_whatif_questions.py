"""What is asked of a run, and which of it can be answered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, Protocol, TypeVar

import polars as pl

from analysis._whatif_claims import Claim, Part, Wish, together
from analysis._whatif_doubts import PLACES, Limits
from analysis._whatif_paid import Paid
from analysis._whatif_places import ranks_of
from analysis._whatif_wishes import repair_of

#: The name of everything that can be repaired, together.
ALL_REPAIRS: Final = "all repairs"


class Resolved(Protocol):
    """A repair that can be told, and what its answer claims."""

    @property
    def claim(self) -> Claim:
        """What the answer claims."""
        ...


T = TypeVar("T", bound=Resolved)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a run.

    Attributes:
        wishes: Repairs, alone or together.
        slow: Rows of StragglerRanks of the run.
        limits: From where on an answer is more than noise.
        has_joint: Whether all that can be repaired is also repaired together.
        paid: What the run paid for; None where that is not known.
    """

    wishes: Sequence[Wish]
    slow: pl.DataFrame
    limits: Limits
    has_joint: bool = False
    paid: Paid | None = None


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """What can be answered of a question, and what cannot.

    Attributes:
        wishes: Wishes that can be answered, by name.
        parts: What each of them comes to.
        refused: Why a repair cannot be told, by its text.
    """

    wishes: Mapping[str, Wish]
    parts: Mapping[str, list[T]]
    refused: Mapping[str, str]

    def claim(self, name: str) -> Claim:
        """Return what the answer to a wish claims."""
        return together([part.claim for part in self.parts[name]])


def resolve(
    question: Question, read: Callable[[Part], T | str], seen: pl.DataFrame
) -> Asked[T]:
    """Find out which wishes can be answered.

    Args:
        question: What is asked.
        read: Returns what a repair comes to, or why it cannot be told.
        seen: Seats of the run.
    """
    found: dict[Part, T | str] = {}
    wishes: dict[str, Wish] = {}
    for wish in question.wishes:
        for part in wish.parts:
            if part not in found:
                found[part] = read(part)
        if not any(isinstance(found[part], str) for part in wish.parts):
            wishes[wish.name] = _flagged(wish, question.slow, seen)
    told = {part: one for part, one in found.items() if not isinstance(one, str)}
    parts = {name: [told[part] for part in wish.parts] for name, wish in wishes.items()}
    refused = {
        part.repair.text: one for part, one in found.items() if isinstance(one, str)
    }
    return Asked(wishes, parts, refused)


def with_joint(asked: Asked[T]) -> Asked[T]:
    """Return what can be answered, with all that can be repaired together."""
    some = [
        (asked.wishes[name], parts)
        for name, parts in asked.parts.items()
        if all(_is_repair(part.claim) for part in parts)
    ]
    told = _together(some)
    if told is None:
        return asked
    wish, parts = told
    return replace(
        asked,
        wishes={**asked.wishes, wish.name: wish},
        parts={**asked.parts, wish.name: parts},
    )


def joint_of(
    asked: Asked[T], rows: Sequence[Mapping[str, Any]]
) -> tuple[Wish, list[T]] | None:
    """Return the wish for all repairs together that are worth it, if these are several.

    Args:
        asked: What was answered.
        rows: Its answers, rows of the result table.
    """
    sure = [row for row in rows if row["is_beyond_noise"] and row["is_reliable"]]
    good = {row["repair"] for row in sure if _is_repair(asked.claim(row["repair"]))}
    return _together(
        [
            (asked.wishes[name], asked.parts[name])
            for name in asked.wishes
            if name in good
        ]
    )


def _is_repair(claim: Claim) -> bool:
    """Whether somebody can do it: not a bound, and not all at what is usual."""
    return not claim.is_bound and claim.scope != "everything"


def _together(some: Sequence[tuple[Wish, list[T]]]) -> tuple[Wish, list[T]] | None:
    """Return several wishes as one; None where there are not several."""
    if len(some) < 2:  # noqa: PLR2004 - one repair is no joint one
        return None
    told = {
        part: one
        for wish, parts in some
        for part, one in zip(wish.parts, parts, strict=True)
    }
    is_flagged = any(wish.is_flagged for wish, _ in some)
    left_out = max(wish.left_out for wish, _ in some)
    return Wish(ALL_REPAIRS, tuple(told), is_flagged, left_out), list(told.values())


def _flagged(wish: Wish, slow: pl.DataFrame, seen: pl.DataFrame) -> Wish:
    """Return the wish, flagged where a rank of it was found slow."""
    if wish.is_flagged or slow.is_empty():
        return wish
    if any(part.repair.kind == "everything" for part in wish.parts):
        return replace(wish, is_flagged=True)
    ranks = [ranks_of(repair_of(row), seen) for row in slow.to_dicts()]
    flagged = [
        rows.select("attempt", "rank") for rows in ranks if not isinstance(rows, str)
    ]
    if not flagged:
        return wish
    own = [ranks_of(p.repair, seen) for p in wish.parts if p.repair.kind in PLACES]
    mine = [rows for rows in own if not isinstance(rows, str)]
    bad = pl.concat(flagged).unique()
    is_bad = any(
        rows.join(bad, on=["attempt", "rank"], how="semi").height for rows in mine
    )
    return replace(wish, is_flagged=is_bad)
