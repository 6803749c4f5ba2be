"""Lines of a plan: what the store must give and take, and how often to save."""

from typing import Final

from analysis._checkpoint_burst import turns_of
from analysis._plan_cost import DAY_S, GPU_TIME
from analysis._plan_rules import Rule, Told
from analysis.checkpoint_models import Costs, exact_interval, interval_waste

_GIGA: Final = 1e9

_COSTS: Final = (
    *("run_mtbf", "checkpoint_stall_s", "checkpoint_restart_s"),
    "checkpoint_downtime_s",
)


#: Waste from which on nothing that counts is done. [1]
_STUCK_FROM: Final = 1 - 1e-6

_STUCK: Final = (
    "cannot make progress: failures come faster than a save and a restart take"
)


def _best(*costs: float) -> float:
    return exact_interval(Costs(*costs))


def _waste(interval_s: float, *costs: float) -> Told:
    waste = interval_waste(interval_s, Costs(*costs))
    return Told(waste, _STUCK if waste > _STUCK_FROM else "")


def _turns(over: float, writers: float) -> Told:
    turns = turns_of(over, writers)
    if over > turns:
        return Told(turns, "one writer at a time, and still more than the store takes")
    return Told(turns, "turns in which no more is sent than the store takes")


def _saved(gpus: float, now: float, best: float) -> Told:
    if best > _STUCK_FROM:
        return Told(None, f"{_STUCK}, at any interval")
    return Told(gpus * DAY_S * (now - best), "")


DATA: Final = (
    Rule(
        *("data", "step_data_bytes", "B", "tokens_per_step x data_bytes_per_token"),
        ("tokens_per_step", "data_bytes_per_token"),
        lambda tokens, each: tokens * each,
    ),
    Rule(
        *("data", "data_rate", "B/s", "step_data_bytes / step_s"),
        ("step_data_bytes", "step_s"),
        lambda size, step_s: size / step_s,
    ),
    Rule(
        *("data", "data_store_share", "1", "data_rate / store_gbs"),
        ("data_rate", "checkpoint_store_gbs"),
        lambda rate, store: rate / (store * _GIGA),
        "of the store's rate, if data come from where checkpoints go",
    ),
    Rule(
        *("data", "data_store_time", "s", "step_data_bytes / store_gbs"),
        ("step_data_bytes", "checkpoint_store_gbs"),
        lambda size, store: size / (store * _GIGA),
        "prefetching hides it where it is shorter than a step",
    ),
)

CHECKPOINTS: Final = (
    Rule(
        *("checkpoints", "checkpoint_size", "B", "checkpoint_bytes"),
        ("checkpoint_bytes",),
        lambda size: size,
    ),
    Rule(
        *("checkpoints", "burst_rate", "B/s", "writers x network_gbs"),
        ("checkpoint_writers", "network_gbs"),
        lambda writers, port: writers * port * _GIGA,
        "what all writers at once can send",
    ),
    Rule(
        *("checkpoints", "burst_over_store", "1", "burst_rate / store_gbs"),
        ("burst_rate", "checkpoint_store_gbs"),
        lambda burst, store: burst / (store * _GIGA),
        "above 1 the store is what writers wait for",
    ),
    Rule(
        *("checkpoints", "direct_stall", "s"),
        "checkpoint_bytes / the lower of burst_rate and store_gbs",
        ("checkpoint_bytes", "burst_rate", "checkpoint_store_gbs"),
        lambda size, burst, store: size / min(burst, store * _GIGA),
        "training stands still until the store has all",
    ),
    Rule(
        *("checkpoints", "two_tier_stall", "s", "checkpoint_bytes / (nodes x local)"),
        ("checkpoint_bytes", "nodes", "checkpoint_local_gbs"),
        lambda size, nodes, local: size / (nodes * local * _GIGA),
        "training goes on when every node has its part; it drains behind training",
    ),
    Rule(
        *("checkpoints", "drain_time", "s", "checkpoint_bytes / store_gbs"),
        ("checkpoint_bytes", "checkpoint_store_gbs"),
        lambda size, store: size / (store * _GIGA),
        "must be shorter than the interval",
    ),
    Rule(
        *("checkpoints", "staggered_turns", "1"),
        "the lower of burst_over_store, rounded up, and writers",
        ("burst_over_store", "checkpoint_writers"),
        _turns,
    ),
    Rule(
        *("checkpoints", "staggered_rate", "B/s", "burst_rate / staggered_turns"),
        ("burst_rate", "staggered_turns"),
        lambda burst, turns: burst / turns,
        "what the writers of one turn can send",
    ),
    Rule(
        *("checkpoints", "staggered_stall", "s", "as two_tier_stall"),
        ("two_tier_stall",),
        lambda stall: stall,
        "the copy inside the node; who else uses the store is not shut out",
    ),
    Rule(
        *("checkpoints", "checkpoint_stall", "s", "checkpoint_stall_s"),
        ("checkpoint_stall_s",),
        lambda stall: stall,
        "that the best interval is worked out for",
    ),
    Rule(
        *("checkpoints", "checkpoint_interval", "s", "checkpoint_interval_s"),
        ("checkpoint_interval_s",),
        lambda interval: interval,
    ),
    Rule(
        *("checkpoints", "best_interval", "s"),
        "M (1 + W0(-exp(-w / M - 1))), M run_mtbf, w checkpoint_stall_s",
        _COSTS,
        _best,
        "useful work between two saves; exact for failures without memory",
    ),
    Rule(
        *("checkpoints", "best_waste", "1"),
        "1 - T / ((M + D) e^(R/M) (e^((T + w)/M) - 1)), T best_interval",
        ("best_interval", *_COSTS),
        _waste,
        "of the time: saving, repeating, restarting",
    ),
    Rule(
        *("checkpoints", "interval_waste", "1"),
        "the same at checkpoints.interval_s",
        ("checkpoint_interval_s", *_COSTS),
        _waste,
    ),
    Rule(
        *("checkpoints", "best_interval_saves_a_day", GPU_TIME),
        "ranks x 24 h x (interval_waste - best_waste)",
        ("ranks", "interval_waste", "best_waste"),
        _saved,
    ),
)
