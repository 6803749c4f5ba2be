"""Which lines of a plan the page shows, and in which table."""

from typing import Final, NamedTuple


class Shown(NamedTuple):
    """A table of the page.

    Attributes:
        title: Its title.
        sections: Parts of the plan that it is of; its query gives all their lines.
        lines: Lines that say most, ten at most.
    """

    title: str
    sections: tuple[str, ...]
    lines: tuple[str, ...]


#: Tables in the order of the page.
TABLES: Final = (
    Shown(
        "What time and arithmetic cost",
        ("cost", "compute", "memory"),
        (
            "hour",
            "day",
            "step",
            "one_ms_per_step",
            "exposed",
            "run",
            "training_flops",
            "one_gpu_years",
            "mfu",
            "devices_for_state",
        ),
    ),
    Shown(
        "What the layout idles, and what it sends in a step",
        ("layout", "traffic"),
        (
            "bubble_of_step",
            "bubble",
            "communication_sm_share",
            "data_bytes",
            "data_exposed",
            "tensor_bytes",
            "tensor_exposed",
            "pipeline_exposed",
            "context_exposed",
            "expert_exposed",
        ),
    ),
    Shown(
        "An all-reduce over all ranks, and the network below it",
        ("collectives", "fabric"),
        (
            "ring_time",
            "tree_time",
            "hierarchical_time",
            "in_network_time",
            "ring_latency",
            "ring_hierarchical_crossing",
            "longest_path_switches",
            "fibre_delay",
            "1_flow_tail",
            "16_flows_tail",
        ),
    ),
    Shown(
        "Input and checkpoints",
        ("data", "checkpoints"),
        (
            "data_rate",
            "checkpoint_size",
            "burst_over_store",
            "direct_stall",
            "two_tier_stall",
            "staggered_stall",
            "best_interval",
            "interval_waste",
            "best_waste",
            "best_interval_saves_a_day",
        ),
    ),
    Shown(
        "What breaks and what burns",
        ("failures", "power"),
        (
            "expected_interruptions",
            "run_mtbf",
            "observed_mtbf",
            "mtbf_rsc_1",
            "mtbf_llama_3",
            "spares_that_pay",
            "gpu_power",
            "facility_power",
            "power_swing",
            "swing_over_limit",
        ),
    ),
)
