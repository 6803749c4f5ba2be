"""Text of any Prometheus exporter: node_exporter, nvidia_gpu_exporter, OpenMetrics.

* Read are counters of InfiniBand ports and network interfaces (`node_infiniband_*`,
  `node_ethtool_*`, `node_network_*`) and GPUs as nvidia-smi sees them
  (`nvidia_smi_*`); other metrics are counted and make no rows.
* Time stamps are milliseconds, or seconds with a fraction in OpenMetrics; `# EOF` and
  exemplars are passed over.
* A text of node_exporter names its host in `node_uname_info`.
* Virtual interfaces (veth, bridges, tunnels) are no ports.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.sources._prometheus.text import TABLES, read_text
from ingest.sources._source import Batch, Head, Reading, Source

_TYPES: Final = (
    "counter|gauge|histogram|summary|untyped|unknown|info|stateset|gaugehistogram"
)
_TEXT: Final = re.compile(
    rf"^(?:# TYPE [A-Za-z_:][\w:.]* (?:{_TYPES})\s*$"
    r"|(?:node_(?:infiniband|ethtool|network)|nvidia_smi)_\w+\{)",
    re.MULTILINE,
)


def recognizes(head: Head) -> bool:
    """Return whether a line tells the type of a metric, or is a series that is read."""
    return _TEXT.search(head.text) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read scrapes, each line alone."""
    return read_text(stream, reading)


SOURCE: Final = Source(
    name="prometheus-text",
    version=5,
    describes="text of Prometheus exporters and OpenMetrics: ports, NICs, GPUs",
    tables=TABLES,
    options=frozenset({"cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
