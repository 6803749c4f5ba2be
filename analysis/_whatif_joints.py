"""Repairs together that save less than one of them alone."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from analysis._whatif_claims import Wish

_LESS: Final = "{} alone saves more: another one slows what was faster than usual"


def with_less_together(
    rows: Sequence[dict[str, Any]], wishes: Mapping[str, Wish]
) -> list[dict[str, Any]]:
    """Return answers, with the doubt where one repair alone saves more than several.

    Args:
        rows: Rows of the result table, of one run and road.
        wishes: What they answer, by name.
    """
    saved = {row["repair"]: row["saved_gpu_ns"] for row in rows}
    return [{**row, "doubt": _doubt(row, wishes[row["repair"]], saved)} for row in rows]


def _doubt(row: Mapping[str, Any], wish: Wish, saved: Mapping[str, Any]) -> str | None:
    doubt: str | None = row["doubt"]
    here = row["saved_gpu_ns"]
    if not wish.is_joint or here is None:
        return doubt
    texts = dict.fromkeys(part.repair.text for part in wish.parts)
    more = [text for text in texts if (saved.get(text) or 0) > max(here, 0)]
    if not more:
        return doubt
    best = max(more, key=lambda text: (saved[text], text))
    return "; ".join(filter(None, (doubt, _LESS.format(best))))
