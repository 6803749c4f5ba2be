"""The ways to choose an interval, and what each would cost a run."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from analysis._checkpoint_costed import caveats, costed, saved, steps_of
from analysis._checkpoint_costs import Row, floor_ns, range_of, why_not
from analysis._checkpoint_intervals import Costs, daly, exact_interval, young
from analysis._checkpoint_levels import Nested
from analysis._checkpoint_renewal import wrong_mtbf_cost
from analysis._checkpoint_tiers import levels_of, why_no_levels
from ingest.times import SECOND_NS

#: Formulas by method.
_FORMULAS: Final[Mapping[str, Callable[[Costs], float]]] = MappingProxyType(
    {"young": young, "daly": daly, "exact": exact_interval}
)

#: MTBF believed over the real one, by the column of what that costs.
_WRONG: Final = {"half_mtbf_ratio": 0.5, "double_mtbf_ratio": 2.0}

#: What the waste of levels is.
_LEVELS: Final = "levels: closed form"

#: Methods, in the order of the table.
METHODS: Final = ("in_use", *_FORMULAS, "multi_level")


def plans_of(run: Row) -> Iterator[dict[str, Any]]:
    """Yield a row of CheckpointPlans for each method.

    Args:
        run: Row of CheckpointEvidence.
    """
    why = why_not(run)
    if why:
        told = {name: run[name] for name in ("interval_ns", "interval_steps")}
        for method in METHODS:
            rest = told if method == "in_use" else {}
            yield {"run_id": run["run_id"], "method": method, "reason": why, **rest}
        return
    yield _in_use(run)
    for method, formula in _FORMULAS.items():
        yield _by_formula(run, method, formula)
    yield _multi_level(run)


def _in_use(run: Row) -> dict[str, Any]:
    interval = run["interval_ns"]
    if not interval:
        why = "fewer than two saves of one attempt: no interval is seen"
        return {"run_id": run["run_id"], "method": "in_use", "reason": why}
    told = costed(run, "in_use", interval)
    ends = dict.fromkeys(("interval_low_ns", "interval_high_ns"), interval)
    steps = run["interval_steps"] or told["interval_steps"]
    return {**told, **ends, "interval_steps": steps}


def _by_formula(
    run: Row, method: str, formula: Callable[[Costs], float]
) -> dict[str, Any]:
    least, limit = floor_ns(run)
    costs = range_of(run)
    best = {
        end: None if one is None else max(round(formula(one) * SECOND_NS), least)
        for end, one in costs.items()
    }
    interval, mean = best["mean"], costs["mean"]
    if not interval or mean is None:
        why = "a save costs nothing: every interval is as good as the next shorter"
        return {"run_id": run["run_id"], "method": method, "reason": why}
    wrong = _WRONG if method == "exact" else {}
    return {
        **costed(run, method, interval),
        "interval_low_ns": best["low"],
        "interval_high_ns": best["high"],
        "limited_by": limit if interval == least else "cost",
        **{name: wrong_mtbf_cost(mean, factor) for name, factor in wrong.items()},
    }


def _multi_level(run: Row) -> dict[str, Any]:
    named = {"run_id": run["run_id"], "method": "multi_level"}
    told = levels_of(run)
    if told is None:
        return {**named, "reason": why_no_levels(run)}
    near, far = (round(one * SECOND_NS) for one in told.intervals_s)
    mean = range_of(run)["mean"]
    return {
        **named,
        "interval_ns": near,
        "interval_steps": steps_of(run, near),
        "far_interval_ns": far,
        "waste_ratio": told.waste_ratio,
        "saved_gpu_ns_per_day": saved(run, mean, 1 - told.waste_ratio),
        "reason": "; ".join(filter(None, [caveats(run), _LEVELS, _alike(told)])),
    }


def _alike(told: Nested) -> str:
    """Say where the near tier is saved to no more often than the far one."""
    is_alike = told.multiples[-1] == 1
    return "a near tier does not pay: every save goes far" if is_alike else ""
