"""Lines of a plan: ranks of the layout, its bubble, multiprocessors."""

from typing import Final

from analysis._plan_cost import GPU_TIME
from analysis._plan_rules import Rule

LAYOUT: Final = (
    Rule(
        *("layout", "layout_gpus", "1", "tp x cp x pp x dp", ("tp", "cp", "pp", "dp")),
        lambda tp, cp, pp, dp: tp * cp * pp * dp,
    ),
    Rule(
        *("layout", "bubble_of_ideal", "1", "(pp - 1) / (vpp x microbatches)"),
        ("pp", "vpp", "microbatches"),
        lambda pp, vpp, microbatches: (pp - 1) / (vpp * microbatches),
        "of the time that passes take, all alike; arXiv 2104.04473",
    ),
    Rule(
        *("layout", "bubble_of_step", "1", "bubble_of_ideal / (1 + bubble_of_ideal)"),
        ("bubble_of_ideal",),
        lambda bubble: bubble / (1 + bubble),
    ),
    Rule(
        *("layout", "bubble_time", "s", "bubble_of_step x step_s"),
        ("bubble_of_step", "step_s"),
        lambda share, step_s: share * step_s,
    ),
    Rule(
        *("layout", "bubble", GPU_TIME, "gpus x bubble_time x planned_steps"),
        ("gpus", "bubble_time", "planned_steps"),
        lambda gpus, seconds, steps: gpus * seconds * steps,
    ),
    Rule(
        *("layout", "communication_sm_share", "1", "communication_sms / sms"),
        ("communication_sms", "sms"),
        lambda given, sms: given / sms,
        "multiprocessors that compute does not have while communication runs",
    ),
    Rule(
        *("layout", "communication_sm", GPU_TIME, "communication_sm_share x run"),
        ("communication_sm_share", "run"),
        lambda share, run: share * run,
        "at most: if communication ran all the time and compute felt each of them",
    ),
)
