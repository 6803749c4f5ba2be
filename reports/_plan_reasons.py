"""Why what was measured is far from a plan, where its formula tells."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from reports._numbers import significant
from reports._plan_titles import title

#: Exchanges of activations in each layer that the plan of tensor parallelism counts.
_EXCHANGES: Final = 8

_WAITING: Final = "times as traced contain waiting for late ranks, which no plan has"

#: Above the plan, and below it: what its formula leaves out.
_ABOVE: Final[Mapping[str, str]] = {
    "exposed_per_step": _WAITING,
    **{f"{kind}_time": _WAITING for kind in ("data", "tensor", "pipeline")},
    **{f"{kind}_time": _WAITING for kind in ("context", "expert")},
    "interval_waste": "measured are stops as they came, planned those that the rate of"
    " failures on paper expects",
}
_BELOW: Final[Mapping[str, str]] = {
    "gpu_power": "on paper every GPU draws its limit all the time",
    "run_mtbf": "on paper failures come at the rate of the card, or of Meta RSC-1"
    " where it has none; every unplanned stop counts as measured",
}


def reasons(plan: pl.DataFrame, as_planned: float) -> list[str]:
    """Return why lines are away from the plan; nothing where no formula tells.

    Args:
        plan: Rows of Plans of a run, in order of the plan.
        as_planned: Within this of the plan a line is as planned. [1]
    """
    told: dict[str, list[str]] = {}
    for row in plan.drop_nulls("difference_ratio").to_dicts():
        if abs(row["difference_ratio"]) > as_planned and (why := _why(row)):
            told.setdefault(why, []).append(title(row["name"]))
    parts = [f"{', '.join(lines)}: {why}" for why, lines in told.items()]
    return [f"Why lines differ. {'. '.join(parts)}."] if parts else []


def _why(row: Mapping[str, Any]) -> str:
    ratio = float(row["difference_ratio"])
    if row["name"] == "tensor_bytes":
        seen = significant(_EXCHANGES * (1 + ratio), 2)
        return (
            f"as many bytes as {seen} exchanges of activations in each layer would be;"
            f" the plan counts {_EXCHANGES}"
        )
    return (_ABOVE if ratio > 0 else _BELOW).get(row["name"], "")
