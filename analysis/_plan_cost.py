"""Lines of a plan: time that is paid for, arithmetic, and memory."""

from fractions import Fraction
from typing import Final

from analysis._plan_rules import Rule, Told, number_text
from ingest.times import DAY_NS, SECOND_NS

#: Seconds of an hour, a day and a year of 365.25 days. [s]
HOUR_S: Final = 3600
DAY_S: Final = DAY_NS // SECOND_NS
YEAR_S: Final = 365.25 * DAY_S

#: Unit of time on GPUs, which has a price.
GPU_TIME: Final = "GPU s"

_TERA: Final = 1e12
_MS: Final = 1e-3


def _steps_in(days: float, step_s: float) -> float:
    """Return whole steps in some days; exact, as the last step counts or does not."""
    return int(Fraction(str(days)) * DAY_S / Fraction(str(step_s)))


def spread_experts(ep: float) -> str:
    """Return what limits a count of parameters where experts are spread over ranks."""
    if ep <= 1:
        return ""
    return (
        f"at most: experts are spread over {ep:.10g} ranks, and a card does not tell"
        f" which parameters are theirs; were all, one part in {ep:.10g}"
    )


def _mfu(
    parameters: float, tokens: float, peak: float, ranks: float, step_s: float
) -> Told:
    share = 6 * parameters * tokens / (peak * _TERA * ranks * step_s)
    if share <= 1:
        return Told(share, "")
    times = number_text(float(f"{share:.3g}"))
    return Told(
        None,
        f"impossible: {times} times the peak; check step_s, tokens_per_step,"
        " parameters and peak_tflops, of which one does not fit",
    )


COST: Final = (
    Rule(
        *("cost", "hour", GPU_TIME, "gpus x 1 h", ("gpus",)),
        lambda gpus: gpus * HOUR_S,
    ),
    Rule(
        *("cost", "day", GPU_TIME, "gpus x 24 h", ("gpus",)),
        lambda gpus: gpus * DAY_S,
    ),
    Rule(
        *("cost", "step", GPU_TIME, "gpus x step_s", ("gpus", "step_s")),
        lambda gpus, step_s: gpus * step_s,
    ),
    Rule(
        *("cost", "one_ms_per_step", GPU_TIME, "gpus x 1 ms x planned_steps"),
        ("gpus", "planned_steps"),
        lambda gpus, steps: gpus * _MS * steps,
    ),
    Rule(
        *("cost", "100_ms_per_step", GPU_TIME, "gpus x 100 ms x planned_steps"),
        ("gpus", "planned_steps"),
        lambda gpus, steps: gpus * 100 * _MS * steps,
    ),
    Rule(
        *("cost", "exposed_per_step", "s", "exposed_communication_s"),
        ("exposed_communication_s",),
        lambda exposed: exposed,
    ),
    Rule(
        *("cost", "exposed_time", "s", "exposed_communication_s x planned_steps"),
        ("exposed_communication_s", "planned_steps"),
        lambda exposed, steps: exposed * steps,
    ),
    Rule(
        *("cost", "exposed", GPU_TIME, "gpus x exposed_time"),
        ("gpus", "exposed_time"),
        lambda gpus, exposed: gpus * exposed,
    ),
    Rule(
        *("cost", "run_time", "s", "planned_steps x step_s"),
        ("planned_steps", "step_s"),
        lambda steps, step_s: steps * step_s,
        "without interruptions, checkpoints and restarts",
    ),
    Rule(
        *("cost", "run", GPU_TIME, "gpus x run_time", ("gpus", "run_time")),
        lambda gpus, seconds: gpus * seconds,
        "without interruptions, checkpoints and restarts",
    ),
    Rule(
        *("cost", "steps_in_planned_days", "1", "planned_days x 1 d / step_s"),
        ("planned_days", "step_s"),
        _steps_in,
        "without interruptions; whole steps",
    ),
)

COMPUTE: Final = (
    Rule(
        *("compute", "training_flops", "FLOP", "6 x active_parameters x total_tokens"),
        ("active_parameters", "total_tokens"),
        lambda parameters, tokens: 6 * parameters * tokens,
        "without attention; Kaplan et al., arXiv 2001.08361",
    ),
    Rule(
        *("compute", "one_gpu_years", "years"),
        "training_flops / achieved_tflops, in years of 365.25 days",
        ("training_flops", "achieved_tflops"),
        lambda flops, rate: flops / (rate * _TERA) / YEAR_S,
    ),
    Rule(
        *("compute", "mfu", "1"),
        "6 x active_parameters x tokens_per_step / (peak_tflops x ranks x step_s)",
        ("active_parameters", "tokens_per_step", "peak_tflops", "ranks", "step_s"),
        _mfu,
        "of ranks: nodes in reserve do not compute",
    ),
    Rule(
        *("compute", "step_time", "s"),
        "step_s",
        ("step_s",),
        lambda step_s: step_s,
    ),
)

MEMORY: Final = (
    Rule(
        *("memory", "state_bytes", "B", "parameters x state_bytes_per_parameter"),
        ("parameters", "state_bytes_per_parameter"),
        lambda parameters, state: parameters * state,
    ),
    Rule(
        *("memory", "devices_for_state", "1", "state_bytes / memory_bytes"),
        ("state_bytes", "memory_bytes"),
        lambda state, memory: state / memory,
        "state alone: activations and buffers need room, too",
    ),
    Rule(
        *("memory", "state_bytes_per_gpu", "B", "state_bytes / (tp x pp x dp)"),
        ("state_bytes", "tp", "pp", "dp"),
        lambda state, tp, pp, dp: state / (tp * pp * dp),
        "state sharded over replicas, too (ZeRO-3, FSDP)",
    ),
    Rule(
        *("memory", "unsharded_memory_share", "1"),
        "state_bytes / (tp x pp) / memory_bytes",
        ("state_bytes", "tp", "pp", "memory_bytes", "ep"),
        lambda state, tp, pp, memory, ep: Told(
            state / (tp * pp) / memory, spread_experts(ep)
        ),
        "state whole in every replica; above 1 it does not fit",
    ),
)
