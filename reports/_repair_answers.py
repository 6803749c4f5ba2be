"""What-if answers on the page: which repair saves what, in words."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis.whatif import WhatIf
from reports._section import Scope
from reports._words import name

#: What a repair is called, where its text is not a name with a value.
_WORDS: Final[Mapping[str, str]] = {
    "everything": "everything typical",
    "all repairs": "all repairs together",
    "communication": "communication free",
    "communication=hidden": "communication hidden",
    "clocks": "no throttled clocks",
    "gc": "no garbage-collection pauses",
    "sequence-lengths": "balanced sequence lengths",
    "data": "input always there",
    "workers=slowest": "slowest workers",
    "stage=last": "last stage",
}

#: What is repaired, where a value names it.
_KINDS: Final[Mapping[str, str]] = {"gpu": "GPU", "communication": "no communication:"}


def answered(frames: Frames, scope: Scope) -> pl.DataFrame:
    """Return the answers of the runs on the page, one road for each repair.

    Where two roads answer, the one that saw more steps counts.
    """
    rows = scope.of_runs(frames[WhatIf]).filter(WhatIf.method.col != "none")
    by_steps = rows.sort(
        ["run_id", "repair", "steps", "method"],
        descending=[False, False, True, False],
    )
    first = by_steps.unique(["run_id", "repair"], keep="first", maintain_order=True)
    return first.collect()


def is_worth() -> pl.Expr:
    """Whether an answer is a saving beyond noise that somebody can have."""
    is_sure = WhatIf.is_beyond_noise.col & WhatIf.is_reliable.col
    return is_sure & ~WhatIf.is_bound.col & (WhatIf.scope.col != "everything")


def called(repair: str) -> str:
    """Return what a repair is called on the page."""
    if repair in _WORDS:
        return _WORDS[repair]
    kind, _, value = repair.partition("=")
    if not value:
        return name(repair)
    if kind == "kind":
        return f"all {name(value, 40)}"
    told = value.replace("..", "\N{EN DASH}") if kind == "rank" else value
    return f"{_KINDS.get(kind, kind)} {name(told, 40)}"


def by_repair(rows: pl.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    """Return answers by their run and repair."""
    return {(row["run_id"], row["repair"]): row for row in rows.to_dicts()}
