"""The run card of a synthetic run and the host map that it names."""

from collections.abc import Iterator, Sequence

from ingest.synthetic.fleet import Gpu
from ingest.synthetic.scenario import Scenario

#: Price of the sample's GPUs.
USD_PER_GPU_HOUR = 2.0


def card_lines(scenario: Scenario) -> Iterator[str]:
    """Yield the lines of run.toml."""
    yield f'run_id = "{scenario.run_id}"'
    yield f'cluster = "{scenario.cluster}"'
    yield f'model = "{scenario.parameters / 1e9:.1f}B dense"'
    yield f'zone = "{scenario.zone}"'
    yield ""
    yield "[hardware]"
    yield 'gpu = "H100-SXM"'
    yield f"gpus = {scenario.ranks}"
    yield f"gpus_per_node = {scenario.gpus_per_node}"
    yield "peak_tflops = 989"
    yield "nvlink_gbs = 450"
    yield "network_gbs = 50"
    yield "watts_per_gpu_all_in = 1220"
    yield ""
    yield "[layout]"
    yield f"tp = {scenario.tp}"
    yield "pp = 1"
    yield f"dp = {scenario.dp}"
    yield ""
    yield "[training]"
    yield f"parameters = {scenario.parameters}"
    yield f"layers = {scenario.layers}"
    yield f"hidden = {scenario.hidden}"
    yield f"tokens_per_step = {scenario.tokens_per_step}"
    yield f"sequence_length = {scenario.sequence_length}"
    yield f"planned_steps = {scenario.planned_steps}"
    yield ""
    yield "[price]"
    yield f"usd_per_gpu_hour = {USD_PER_GPU_HOUR}"
    yield ""
    yield "[hosts]"
    yield 'map = "hosts.csv"'


def host_lines(gpus: Sequence[Gpu]) -> Iterator[str]:
    """Yield the lines of hosts.csv."""
    yield "rank,host,local_rank,gpu_uuid,pci_address,nic,rail,switch,rack,pod"
    for gpu in gpus:
        place = f"{gpu.nic},rail-{gpu.local_rank},{gpu.switch},rack-1,pod-a"
        identity = f"{gpu.local_rank},{gpu.uuid},{gpu.pci_address}"
        yield f"{gpu.rank},{gpu.host},{identity},{place}"
