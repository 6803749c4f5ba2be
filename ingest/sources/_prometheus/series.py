"""What the labels of a series say: the field that it fills, and of which device."""

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final, NamedTuple

from ingest.sources._power.address import identity, is_masked
from ingest.sources._prometheus.fields import FIELDS, Metric, metric_of
from ingest.sources._prometheus.gpu_names import PER_INSTANCE, SMI_PREFIX
from ingest.sources._prometheus.labels import NAME, BrokenSeriesError
from ingest.tables import PowerSamples

_UUID: Final = ("UUID", "uuid", "gpu_uuid")
_HOST: Final = ("Hostname", "hostname", "nodename", "node", "kubernetes_node")
_INSTANCE: Final = ("exported_instance", "instance")

#: A UUID as nvidia_gpu_exporter writes it, without what it starts with.
_BARE: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

#: Interfaces that are no ports: the host's own, of containers, bridges and tunnels.
_VIRTUAL: Final = re.compile(
    r"lo|(?:veth|docker|br-|virbr|cali|cni|flannel|cilium|lxc|kube-|nodelocaldns|tunl|"
    r"tun|tap|dummy|vxlan|geneve|ovs|vnet|podman|ifb|sit|wg)\S*"
)

_PORT: Final = re.compile(r":\d+$")


class Series(NamedTuple):
    """A series that is stored.

    Attributes:
        field: Position of its field.
        metric: Name of its metric.
        host: Node that a label names.
        instance: Address that was scraped, without its port.
        device: GPU or port.
    """

    field: int
    metric: str
    host: str | None
    instance: str | None
    device: str


def series_of(labels: Mapping[str, str]) -> Series | None:
    """Return the series that labels stand for; None where it is of no column.

    Raises:
        BrokenSeriesError: If it names no device.
    """
    name = labels.get(NAME, "")
    metric = metric_of(name)
    if metric is None:
        return None
    field = FIELDS[metric.field]
    device: str | None
    if field in PER_INSTANCE and labels.get("GPU_I_ID"):
        return None
    if field.table is PowerSamples:
        device = _gpu(name, labels)
    elif name.startswith("node_"):
        device = _port(name, labels)
    else:
        device = _nvlink(metric, name, labels)
    if device is None:
        return None
    host, instance = _first(labels, _HOST), _first(labels, _INSTANCE)
    address = _PORT.sub("", instance).strip("[]") if instance else None
    return Series(metric.field, name, host, address or None, device)


def is_address(host: str) -> bool:
    """Return whether a host is an address, which no other telemetry knows it by."""
    try:
        ip_address(host)
    except ValueError:
        return host == "localhost"
    return True


def is_loopback(host: str) -> bool:
    """Return whether an address is each node's own."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _gpu(name: str, labels: Mapping[str, str]) -> str:
    uuid = _first(labels, _UUID)
    masked = uuid if uuid and is_masked(uuid) else None
    if uuid and not masked and name.startswith(SMI_PREFIX) and _BARE.fullmatch(uuid):
        return f"GPU-{uuid}"
    gpu = (None if masked else uuid) or identity(labels.get("pci_bus_id", ""))
    if not gpu and labels.get("gpu"):
        gpu = f"index:{labels['gpu']}"
    gpu = gpu or masked
    if not gpu:
        message = "gpu_uuid|required"
        raise BrokenSeriesError(message)
    return gpu


def _port(name: str, labels: Mapping[str, str]) -> str | None:
    device, port = labels.get("device"), labels.get("port")
    is_infiniband = name.startswith("node_infiniband_")
    if not device or (is_infiniband and not port):
        message = "port|required"
        raise BrokenSeriesError(message)
    if is_infiniband:
        return f"{device}/{port}"
    return None if _VIRTUAL.fullmatch(device) else device


def _nvlink(metric: Metric, name: str, labels: Mapping[str, str]) -> str:
    lane = metric.lane or labels.get("nvlink") or ""
    switch = labels.get("nvswitch")
    of = f"nvswitch:{switch}" if switch else f"nvlink:{_gpu(name, labels)}"
    return f"{of}/{lane}" if lane else of


def _first(labels: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((labels[name] for name in names if labels.get(name)), None)
