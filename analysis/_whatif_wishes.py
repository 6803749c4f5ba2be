"""What is asked of every run without being told to: the repairs that it suggests."""

from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from analysis._repairs import (
    EVERYTHING,
    Kind,
    Repair,
    of_name,
    of_number,
    of_ranks,
)
from analysis._repairs_grammar import parse
from analysis._whatif_claims import Part, Wish

#: Slow things of a run that are repaired one by one, the dearest first; a page shows
#: five, and each is a simulation. [1]
MOST_FLAGGED: Final = 20

#: Repairs of parts of every rank's steps.
_OF_STEPS: Final = ("communication", "communication=hidden", "data", "clocks")

#: Repairs of a trace of operations, beside those of its kinds.
_OF_TRACES: Final = (
    "workers=slowest",
    "stage=last",
    "communication",
    "communication=hidden",
    "communication=dp",
    "communication=pp",
    "communication=tp",
    "gc",
    "sequence-lengths",
    "clocks",
)


def single(repair: Repair) -> Wish:
    """Return the wish for one repair of the whole run."""
    return Wish(repair.text, (Part(repair),))


def joint(parts: Sequence[Part]) -> Wish:
    """Return the wish for several repairs together."""
    name = " + ".join(dict.fromkeys(part.repair.text for part in parts))
    return Wish(name, tuple(parts))


def wishes_of_steps(slow: pl.DataFrame) -> list[Wish]:
    """Return what is asked of a run whose steps of ranks are known.

    Args:
        slow: Rows of StragglerRanks of the run.
    """
    some = [Wish("everything", (Part(EVERYTHING),))]
    some += [single(parse(text)) for text in _OF_STEPS]
    return [*some, *_flagged(slow)]


def wishes_of_days(slow: pl.DataFrame) -> list[Wish]:
    """Return what is asked of a run whose steps are kept by day.

    Args:
        slow: Rows of StragglerRanks of the run.
    """
    return [Wish("everything", (Part(EVERYTHING),)), *_flagged(slow)]


def wishes_of_trace(kinds: Sequence[str], slow: pl.DataFrame) -> list[Wish]:
    """Return what is asked of a trace of operations.

    Args:
        kinds: Kinds of its operations, in the source's words.
        slow: Rows of StragglerRanks of the run.
    """
    some = [Wish("everything", (Part(EVERYTHING),))]
    some += [single(of_name("kind", kind)) for kind in sorted(kinds)]
    some += [single(parse(text)) for text in _OF_TRACES]
    return [*some, *_flagged(slow)]


def _flagged(slow: pl.DataFrame) -> list[Wish]:
    """Return a wish for each thing found slow, the dearest first, all spells of it."""
    order = ["lost_gpu_ns", "scope", "scope_id", "first_step"]
    down = [True, False, False, False]
    spells: dict[Repair, list[tuple[int, int]]] = {}
    for row in slow.sort(order, descending=down).to_dicts():
        spells.setdefault(repair_of(row), []).append(_spell(row))
    left_out = max(0, len(spells) - MOST_FLAGGED)
    return [
        Wish(repair.text, (Part(repair, tuple(some)),), True, left_out)
        for repair, some in list(spells.items())[:MOST_FLAGGED]
    ]


def repair_of(row: dict[str, Any]) -> Repair:
    """Return the repair of what a row of StragglerRanks flags."""
    scope, name = row["scope"], row["scope_id"]
    if scope == "gpu":
        rank = row["rank"]
        return of_name("gpu", name) if rank is None else of_ranks(((rank, rank),))
    if scope in _NUMBERED:
        return of_number(_NUMBERED[scope], int(name))
    return of_name(scope, name)


_NUMBERED: Final[dict[str, Kind]] = {"stage": "stage", "dp_rank": "replica"}


def _spell(row: dict[str, Any]) -> tuple[int, int]:
    """Return the steps of a spell; one that a restart cut ends at a step seen twice."""
    first, last = int(row["first_step"]), int(row["last_step"])
    return min(first, last), max(first, last)
