"""JSON and CSV of `rocm-smi`, in which each card is a GPU.

* Every value is text with its unit in its label, see _power.amd. Levels of clocks have
  bare numbers as labels ("0", "1") and are not read.
* The tool prints no time: only a file with one sample of each GPU has one, that of the
  file (see _power.untimed). Appended calls are refused.
* A GPU is known by its unique ID, else by its PCI address, else by the number of the
  card; the host by the name of the file (_power.names).
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.sources._power.amd import ROCM, card, cell
from ingest.sources._power.amd_read import Found, Tool
from ingest.sources._power.amd_read import read as read_tool
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import PowerSamples

_CARD: Final = re.compile(r'"card\d+"\s*:\s*\{')


def recognizes(head: Head) -> bool:
    """Return whether the head is JSON or CSV of cards with a label that is stored."""
    text = head.text
    is_json = _CARD.search(text) and any(f'"{label}"' in text for label in ROCM)
    return bool(is_json) or _TOOL.has_header(text)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read samples."""
    yield from read_tool(stream, reading, _TOOL)


def _gpus(document: object) -> Iterator[Found]:
    for name, labels in document.items() if isinstance(document, dict) else ():
        number = card(name)
        if number is not None and isinstance(labels, dict):
            told = {"device": number} | labels
            yield {field: cell(told.get(label)) for label, (field, _) in ROCM.items()}


_TOOL: Final = Tool(
    named=ROCM,
    first="device",
    gpus=_gpus,
    mend="rocm-smi prints none: use `amd-smi metric -w 1`, or a file for each look",
)

SOURCE: Final = Source(
    name="rocm-smi",
    version=3,
    describes="JSON or CSV of rocm-smi, one look",
    tables=(PowerSamples,),
    options=frozenset({"cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
