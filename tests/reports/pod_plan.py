"""A plan of the pod, some lines of which were measured."""

from analysis.flow_collisions import FlowCollisions
from analysis.plans import Plans
from ingest.tables import Table
from tests.reports.builder import Row

_LINES = (
    # section, name, unit, planned, measured, from
    ("cost", "step", "GPU s", 8.0, 10.0, "this line with step_time as measured"),
    ("cost", "run", "GPU s", 9_600.0, 12_000.0, "this line with step_time as measured"),
    ("compute", "step_time", "s", 1.0, 1.25, "step_timings, median of steps"),
    ("layout", "layout_gpus", "1", 8.0, 8.0, "attempts, most GPUs held"),
    ("traffic", "data_bytes", "B", 4e9, 4e9, "collectives, mean of GPUs and steps"),
    ("traffic", "data_time", "s", 0.08, 0.2, "overlap_groups, mean of GPUs and steps"),
    ("collectives", "ring_latency", "s", 1e-4, None, None),
    ("collectives", "ring_bandwidth", "B/s", 4e11, None, None),
    ("collectives", "tree_latency", "s", 1e-5, None, None),
    ("collectives", "tree_bandwidth", "B/s", 2e11, None, None),
    ("fabric", "1_flow_collisions", "GPU s", 7_200.0, None, None),
    ("fabric", "16_flows_collisions", "GPU s", 3_600.0, None, None),
    ("power", "gpu_power", "W", 5_600.0, 4_480.0, "energy, mean power of all GPUs"),
)


def plan(run: str) -> dict[type[Table], list[Row]]:
    """Lines of a plan: a step takes a quarter longer; power has no second number."""
    lines = [
        {
            "run_id": run,
            "number": number,
            "section": section,
            "name": name,
            "unit": unit,
            "value": value,
            "formula": "as the card says",
            "inputs": "gpus 8 (card hardware.gpus); state 16 (assumed: Adam)",
            "measured": found,
            "measured_from": basis,
            "difference_ratio": None if found is None else found / value - 1,
        }
        for number, (section, name, unit, value, found, basis) in enumerate(_LINES, 1)
    ]
    missing = {
        "run_id": run,
        "number": len(lines) + 1,
        "section": "power",
        "name": "facility_power",
        "unit": "W",
        "formula": "gpus x watts_per_gpu_all_in",
        "inputs": "gpus 8 (card hardware.gpus)",
        "note": "not told: hardware.watts_per_gpu_all_in",
    }
    flows = [
        {
            "run_id": run,
            "flows_per_pair": count,
            "pairs": 8,
            "paths": 8,
            "method": "exact",
            "expected_ratio": expected,
            "p99_ratio": worst,
        }
        for count, expected, worst in ((1, 2.6, 4.0), (16, 1.37, 1.75))
    ]
    return {Plans: [*lines, missing], FlowCollisions: flows}
