"""Nodes of devices: what labels name, what `node_uname_info` names, the file's name."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from ingest.sources._power.address import is_masked
from ingest.sources._power.names import is_local, mark_of
from ingest.sources._prometheus.series import is_address, is_loopback
from ingest.sources._source import Reading

#: Metric whose label tells how a node calls itself.
UNAME: Final = "node_uname_info"

_SEPARATOR: Final = "\x1f"

_EXPORTER: Final = r"(?:node|dcgm|nvidia[-_]gpu)[-_]exporter"
_NODE: Final = r"([A-Za-z][A-Za-z0-9.-]*)"
_NAME_WITH_HOST: Final = re.compile(
    rf"(?:{_EXPORTER}[-_]{_NODE}|{_NODE}\.{_EXPORTER})\.(?:prom|metrics|txt|om)"
)


class Thing(NamedTuple):
    """A device, and what labels tell of where it is.

    Attributes:
        host: Node that a label names.
        instance: Address that was scraped.
        device: GPU or port.
    """

    host: str | None
    instance: str | None
    device: str

    def text(self) -> str:
        """Return it as one text, for grouping by it."""
        parts = (self.host or "", self.instance or "", self.device)
        return _SEPARATOR.join(part.replace(_SEPARATOR, "?") for part in parts)

    @classmethod
    def of(cls, text: str) -> "Thing":
        """Return what a text stands for."""
        host, instance, device = text.split(_SEPARATOR)
        return cls(host or None, instance or None, device)


class Hosts:
    """Names of nodes by the address that was scraped, and that of a file of one."""

    def __init__(self, name: str) -> None:
        """Start with the name of the file.

        Args:
            name: `node-exporter-<host>.prom` or `<host>.node-exporter.prom`, with
                `dcgm` or `nvidia-gpu` in place of `node`, `metrics` or `txt` of `prom`.
        """
        match = _NAME_WITH_HOST.fullmatch(name)
        self._of_file = (match[1] or match[2]) if match else None
        self._of_address: dict[str, str] = {}
        self._unaddressed: set[str] = set()

    def learn(self, labels: Mapping[str, str]) -> None:
        """Take what the labels of `node_uname_info` say."""
        name = labels.get("nodename")
        address = labels.get("instance")
        if name and address:
            self._of_address[re.sub(r":\d+$", "", address)] = name
        elif name:
            self._unaddressed.add(name)

    def node(self, thing: Thing, *, is_required: bool) -> str | None:
        """Return the node of a device; None where it is not known.

        An address is no node's name: GPUs are left without one, which their UUID makes
        up for, and ports are not.
        """
        if thing.host:
            return thing.host
        if thing.instance is None:
            return self._only()
        if name := self._of_address.get(thing.instance):
            return name
        if is_required or not is_address(thing.instance):
            return thing.instance
        return None

    def gpu(self, thing: Thing, reading: Reading) -> str:
        """Return the identity of a GPU; the file where a masked UUID is all there is.

        Where no node is known, a GPU that is known by its number or address only is of
        the address that was scraped, or else of the file.
        """
        is_placed = self.node(thing, is_required=False) is not None
        mark = mark_of(reading)
        if is_masked(thing.device):
            return f"file:{reading.name if is_placed else mark}"
        if is_placed or not is_local(thing.device):
            return thing.device
        is_lone = thing.instance is None or is_loopback(thing.instance)
        return f"{thing.device} of {mark if is_lone else thing.instance}"

    def _only(self) -> str | None:
        """Return the one node that a text without addresses is of."""
        if len(self._unaddressed) == 1:
            return next(iter(self._unaddressed))
        return None if self._unaddressed else self._of_file
