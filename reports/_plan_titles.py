"""Names of a plan's lines in words."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from reports._words import said

#: Lines whose names say too little by themselves.
_TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "hour": "An hour",
        "day": "A day",
        "step": "A step",
        "one_ms_per_step": "1 ms of every step",
        "100_ms_per_step": "100 ms of every step",
        "exposed_per_step": "Exposed, each step",
        "exposed_time": "Exposed, all steps",
        "exposed": "Exposed communication",
        "run": "All planned steps",
        "one_gpu_years": "Years on one GPU",
        "mfu": "MFU",
        "step_time": "Length of a step",
        "devices_for_state": "GPUs that state fills",
        "layout_gpus": "GPUs of the layout",
        "bubble_of_ideal": "Bubble over passes",
        "bubble_of_step": "Bubble over step",
        "communication_sm_share": "SMs for communication",
        "communication_sm": "What these SMs would do",
        "best_interval_saves_a_day": "Best interval saves, a day on paper",
        "checkpoint_interval": "Interval in use",
        "interval_waste": "Wasted at interval in use",
        "best_waste": "Wasted at best interval",
        "run_mtbf": "MTBF of the run",
        "spares_that_pay": "Spare nodes that pay",
        "gpu_power": "Power of GPUs",
        "facility_power": "Power of the facility",
        "power_swing": "Swing of power",
        "swing_over_limit": "Swing over its limit",
    }
)

#: Ends of names of lines that each kind of parallelism has.
_ENDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "data_bytes": "Data parallel: sent",
        "data_time": "Data parallel: time",
        "data_exposed": "Data parallel: if exposed",
        **{
            f"{kind}_{end}": f"{kind.capitalize()} parallel: {words}"
            for kind in ("tensor", "pipeline", "context", "expert")
            for end, words in (
                ("bytes", "sent"),
                ("time", "time"),
                ("exposed", "if exposed"),
            )
        },
    }
)

#: Words of other names as they are written, longer ones first.
_WRITTEN: Final = (
    ("infinite hbd", "InfiniteHBD"),
    ("llama 3", "Llama 3"),
    ("rsc ", "RSC-"),
    ("mtbf", "MTBF"),
    ("flops", "FLOPs"),
    ("gpus", "GPUs"),
)


def title(name: str) -> str:
    """Return the name of a line in words.

    Args:
        name: Name of the line in Plans.
    """
    own = _TITLES.get(name) or _ENDS.get(name)
    if own:
        return own
    words = said(name)
    for identifier, written in _WRITTEN:
        words = words.replace(identifier, written)
    return words[:1].upper() + words[1:]
