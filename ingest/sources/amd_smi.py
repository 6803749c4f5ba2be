"""`amd-smi metric` as CSV and JSON, one look or, with `-w`, one after the other.

* Power is `socket_power`; `power_management` and `throttle_status` are not. See
  _power.amd for what each column holds. Cells may be lists in quotes.
* With `-w` each sample has its time, in seconds since the epoch. Without, only a file
  with one sample of each GPU has one, that of the file (see _power.untimed).
* Energy is in joules. N/A and the largest number of 16 or 32 bits are no value.
* A GPU is known by its number, the host by the name of the file (_power.names).
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.sources._power.amd import AMD, AMD_PATHS, at, cell
from ingest.sources._power.amd_csv import TIME
from ingest.sources._power.amd_read import Found, Tool
from ingest.sources._power.amd_read import read as read_tool
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import PowerSamples

_GPU: Final = re.compile(r'"gpu"\s*:\s*\d')
_METRIC: Final = re.compile(
    r'"(?:(?:average_|current_)?socket_power|gfx_activity|total_energy_consumption)"\s*:'
)
_OBJECT: Final = re.compile(r"^[ \t]*[\[{]", re.MULTILINE)


def recognizes(head: Head) -> bool:
    """Return whether the head is CSV or JSON of the metrics of amd-smi."""
    text = head.text
    is_json = _OBJECT.search(text) and _GPU.search(text) and _METRIC.search(text)
    return bool(is_json) or _TOOL.has_header(text)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read samples."""
    yield from read_tool(stream, reading, _TOOL)


def _gpus(document: object) -> Iterator[Found]:
    """Yield the GPUs of a document: an array of them, alone or in `gpu_data`."""
    data = (
        document.get("gpu_data", document) if isinstance(document, dict) else document
    )
    for gpu in data if isinstance(data, list) else [data]:
        if isinstance(gpu, dict) and "gpu" in gpu:
            found = {TIME: cell(gpu.get(TIME, at(document, (TIME,))))}
            for path, column in AMD_PATHS.items():
                field, _ = AMD[column]
                found[field] = found.get(field) or cell(at(gpu, path))
            yield found


_TOOL: Final = Tool(
    named=AMD,
    first="gpu",
    gpus=_gpus,
    mend="log with `amd-smi metric -w 1`, which tells it",
)

SOURCE: Final = Source(
    name="amd-smi",
    version=3,
    describes="CSV or JSON of amd-smi metric",
    tables=(PowerSamples,),
    options=frozenset({"zone", "cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
