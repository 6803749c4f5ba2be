"""Lines of a plan: racks, pods and switches, fibre, and flows that share paths."""

from math import ceil
from typing import Final

from analysis._flow_collide import collide
from analysis._plan_cost import GPU_TIME
from analysis._plan_rules import Rule, Told
from ingest.times import SECOND_NS

#: Time of light through a metre of fibre: 1.5 / c. [ns]
FIBRE_NS_PER_M: Final = 5

#: Flows that a pair is split into, in the lines of every plan.
FLOWS_PER_PAIR: Final = (1, 16)

_SHARED: Final = ("fabric_pairs", "fabric_paths")


def _tiers(gpus: float, rack: float, pod: float) -> float:
    return 1 if gpus <= rack else 2 if gpus <= pod else 3


def _flow_rules(flows: int) -> tuple[Rule, ...]:
    name = f"{flows}_flows" if flows > 1 else "1_flow"

    def ratio(which: str) -> Rule:
        def compute(pairs: float, paths: float) -> Told:
            found = collide(int(pairs), int(paths), flows)
            value = getattr(found, f"{which}_ratio")
            return Told(value, found.said)

        words = "expected" if which == "expected" else "99th percentile of the"
        return Rule(
            *("fabric", f"{name}_{which}_load", "1"),
            f"{words} load of the fullest path over the mean,"
            f" {flows} x fabric_pairs flows hashed over fabric_paths",
            _SHARED,
            compute,
        )

    def tail(seconds: float, pairs: float, paths: float) -> Told:
        found = collide(int(pairs), int(paths), flows)
        slowdown = found.slowdown_ratio
        return Told(slowdown and seconds * (slowdown - 1), found.said)

    return (
        ratio("expected"),
        ratio("p99"),
        Rule(
            *("fabric", f"{name}_tail", "s"),
            "data_time x (expected slowdown of the slowest flow - 1)",
            ("data_time", *_SHARED),
            tail,
            "in every step, as connections keep their path; a path carries as much as"
            " one port",
        ),
        Rule(
            *("fabric", f"{name}_collisions", GPU_TIME),
            f"gpus x {name}_tail x planned_steps",
            ("gpus", f"{name}_tail", "planned_steps"),
            lambda gpus, seconds, steps: gpus * seconds * steps,
        ),
    )


FABRIC: Final = (
    Rule(
        *("fabric", "gpus_per_pod", "1", "gpus_per_rack x racks_per_pod"),
        ("fabric_gpus_per_rack", "fabric_racks_per_pod"),
        lambda gpus, racks: gpus * racks,
    ),
    Rule(
        *("fabric", "fabric_gpus", "1", "gpus_per_pod x pods"),
        ("gpus_per_pod", "fabric_pods"),
        lambda gpus, pods: gpus * pods,
    ),
    Rule(
        *("fabric", "racks_needed", "1", "gpus / gpus_per_rack, rounded up"),
        ("gpus", "fabric_gpus_per_rack"),
        lambda gpus, rack: ceil(gpus / rack),
    ),
    Rule(
        *("fabric", "pods_needed", "1", "gpus / gpus_per_pod, rounded up"),
        ("gpus", "gpus_per_pod"),
        lambda gpus, pod: ceil(gpus / pod),
    ),
    Rule(
        *("fabric", "tiers_needed", "1"),
        "1 in a rack, 2 in a pod, 3 between pods",
        ("gpus", "fabric_gpus_per_rack", "gpus_per_pod"),
        _tiers,
    ),
    Rule(
        *("fabric", "longest_path_switches", "1", "2 x tiers - 1", ("fabric_tiers",)),
        lambda tiers: 2 * tiers - 1,
        "up to the top tier and down again",
    ),
    Rule(
        *("fabric", "longest_path_hops", "1", "2 x tiers", ("fabric_tiers",)),
        lambda tiers: 2 * tiers,
        "links from port to port",
    ),
    Rule(
        *("fabric", "fibre_delay", "s", "fibre_m x 5 ns", ("fabric_fibre_m",)),
        lambda metres: metres * FIBRE_NS_PER_M / SECOND_NS,
        "switches and retransmissions add to it",
    ),
    *(rule for flows in FLOWS_PER_PAIR for rule in _flow_rules(flows)),
)
