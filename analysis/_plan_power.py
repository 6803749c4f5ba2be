"""Lines of a plan: electric power of GPUs and facility, its swing, and energy."""

from typing import Final

from analysis._plan_cost import DAY_S
from analysis._plan_rules import Rule

POWER: Final = (
    Rule(
        *("power", "gpu_power", "W", "gpus x tdp_w", ("gpus", "tdp_w")),
        lambda gpus, tdp: gpus * tdp,
        "all GPUs at their limit",
    ),
    Rule(
        *("power", "facility_power", "W", "gpus x watts_per_gpu_all_in"),
        ("gpus", "watts_per_gpu_all_in"),
        lambda gpus, watts: gpus * watts,
    ),
    Rule(
        *("power", "power_swing", "W", "gpus x (tdp_w - communication_w)"),
        ("gpus", "tdp_w", "communication_w"),
        lambda gpus, tdp, low: gpus * (tdp - low),
        "between phases in which all compute and all communicate or wait",
    ),
    Rule(
        *("power", "swing_over_limit", "1", "power_swing / dynamic_range_w"),
        ("power_swing", "power_dynamic_range_w"),
        lambda swing, limit: swing / limit,
        "above 1 the limit is broken",
    ),
    Rule(
        *("power", "step_energy", "J", "gpu_power x step_s"),
        ("gpu_power", "step_s"),
        lambda watts, step_s: watts * step_s,
        "GPUs alone, at their limit",
    ),
    Rule(
        *("power", "day_energy", "J", "gpu_power x 24 h"),
        ("gpu_power",),
        lambda watts: watts * DAY_S,
        "GPUs alone, at their limit",
    ),
    Rule(
        *("power", "run_energy", "J", "gpu_power x run_time"),
        ("gpu_power", "run_time"),
        lambda watts, seconds: watts * seconds,
        "GPUs alone, at their limit",
    ),
)
