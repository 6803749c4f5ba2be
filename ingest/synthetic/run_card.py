"""The run card of a synthetic run and the host map that it names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ingest.synthetic.fleet import Gpu
from ingest.synthetic.scenario import Scenario

#: Price of the sample's GPUs. [USD/h]
USD_PER_GPU_HOUR: Final = 2.0


def card_lines(scenario: Scenario) -> Iterator[str]:
    """Yield the lines of run.toml."""
    head = {
        "run_id": f'"{scenario.run_id}"',
        "cluster": f'"{scenario.cluster}"',
        "model": f'"{scenario.parameters / 1e9:.1f}B dense"',
        "zone": f'"{scenario.zone}"',
    }
    yield from _fields(head)
    for name, fields in _tables(scenario).items():
        yield ""
        yield f"[{name}]"
        yield from _fields(fields)


def _fields(fields: Mapping[str, object]) -> Iterator[str]:
    return (f"{name} = {value}" for name, value in fields.items())


def _tables(scenario: Scenario) -> dict[str, dict[str, object]]:
    return {
        "hardware": {
            "gpu": '"H100-SXM"',
            "gpus": scenario.ranks,
            "gpus_per_node": scenario.gpus_per_node,
            "peak_tflops": 989,
            "nvlink_gbs": 450,
            "network_gbs": 50,
            "watts_per_gpu_all_in": 1220,
            "tdp_w": scenario.power_limit_w,
            "memory_bytes": "80e9",
            "sms": 132,
            "communication_sms": 20,
        },
        "layout": {"tp": scenario.tp, "pp": 1, "dp": scenario.dp},
        "training": {
            "parameters": scenario.parameters,
            "layers": scenario.layers,
            "hidden": scenario.hidden,
            "tokens_per_step": scenario.tokens_per_step,
            "sequence_length": scenario.sequence_length,
            "planned_steps": scenario.planned_steps,
            "step_s": 0.9,
            "achieved_tflops": 440,
            "exposed_communication_s": 0.1,
            "weight_bytes": 2,
            "gradient_bytes": 2,
            "bucket_bytes": scenario.parameters // scenario.tp // scenario.buckets * 2,
        },
        "price": {"usd_per_gpu_hour": USD_PER_GPU_HOUR},
        **_site(scenario),
        "hosts": {"map": '"hosts.csv"'},
    }


def _site(scenario: Scenario) -> dict[str, dict[str, object]]:
    """Return what the owner knows of network, store, repairs and power."""
    return {
        "fabric": {
            "gpus_per_rack": scenario.gpus_per_node,
            "racks_per_pod": 16,
            "pods": 1,
            "fibre_m": 30,
            "round_latency_us": 5,
            "inside_latency_us": 0.6,
            "paths": 8,
        },
        "checkpoints": {
            "interval_s": 22.5,
            "stall_s": 2.4,
            "store_gbs": 20,
            "local_gbs": 40,
        },
        "reliability": {"per_1000_node_days": 6.5, "repair_h": 24},
        "power": {
            "ramp_up_w_per_s": 4000,
            "ramp_down_w_per_s": 4000,
            "dynamic_range_w": 6000,
            "band_low_hz": 0.1,
            "band_high_hz": 20,
            "band_energy_ratio": 0.2,
        },
    }


def host_lines(gpus: Sequence[Gpu]) -> Iterator[str]:
    """Yield the lines of hosts.csv."""
    yield "rank,host,local_rank,gpu_uuid,pci_address,nic,rail,switch,rack,pod"
    for gpu in gpus:
        place = f"{gpu.nic},rail-{gpu.local_rank},{gpu.switch},rack-1,pod-a"
        identity = f"{gpu.local_rank},{gpu.uuid},{gpu.pci_address}"
        yield f"{gpu.rank},{gpu.host},{identity},{place}"
