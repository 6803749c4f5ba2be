"""The run card of a generated run, and the host map that it names."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.scenario import Scenario

#: Columns of a host map, in their usual order; serial numbers are in the log.
_MAP = (
    *("rank", "host", "local_rank", "gpu_uuid", "pci_address"),
    *("nic", "rail", "switch", "rack", "pod"),
)


def write_card(folder: Path, cluster: Cluster) -> None:
    """Write run.toml and hosts.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in card_lines(cluster.scenario))
    (folder / "run.toml").write_text(text, encoding="utf-8")
    cluster.fleet.gpus.select(_MAP).write_csv(folder / "hosts.csv")


def card_lines(scenario: Scenario) -> Iterator[str]:
    """Yield the lines of run.toml."""
    yield f'run_id = "{scenario.run_id}"'
    yield f'cluster = "{scenario.cluster}"'
    yield f'model = "{scenario.model.name}"'
    yield 'zone = "UTC"'
    if scenario.calendar.reserved:
        fleet = scenario.fleet
        gpus = (fleet.hosts + fleet.spares) * fleet.gpus_per_node
        yield f'billing = "reserved"\nreserved_gpus = {gpus}'
    for name, fields in _tables(scenario).items():
        yield f"\n[{name}]"
        yield from (f"{field} = {value}" for field, value in fields.items())


def _tables(scenario: Scenario) -> Mapping[str, Mapping[str, object]]:
    layout, schedule = scenario.layout, scenario.schedule
    axes = ", ".join(f'"{axis}"' for axis in layout.order)
    planned = (
        {"planned_steps": schedule.planned_steps} if schedule.planned_steps else {}
    )
    return {
        "hardware": _hardware(scenario),
        "layout": {
            "tp": layout.tp,
            "cp": layout.cp,
            "pp": layout.pp,
            "dp": layout.dp,
            "vpp": layout.vpp,
            "order": f"[{axes}]",
            "microbatches": layout.microbatches,
        },
        "training": {
            "parameters": scenario.model.parameters,
            "layers": scenario.model.layers,
            "hidden": scenario.model.hidden,
            "tokens_per_step": scenario.tokens_per_step,
            "sequence_length": scenario.model.sequence_length,
            "step_s": schedule.step_s,
            **planned,
        },
        "price": {"usd_per_gpu_hour": schedule.usd_per_gpu_hour},
        "checkpoints": {
            "interval_s": schedule.checkpoint_every * schedule.step_s,
            "stall_s": schedule.checkpoint_s,
        },
        "hosts": {"map": '"hosts.csv"'},
    }


def _hardware(scenario: Scenario) -> Mapping[str, object]:
    fleet = scenario.fleet
    return {
        "gpu": f'"{fleet.gpu}"',
        "gpus": scenario.ranks,
        "gpus_per_node": fleet.gpus_per_node,
        "peak_tflops": scenario.model.peak_tflops,
        "tdp_w": fleet.tdp_w,
        "watts_per_gpu_all_in": round(1.75 * fleet.tdp_w),
    }
