"""Every raw format, one file each. A new format is a new file and its line here."""

from typing import Final

from ingest.sources import (
    console,
    dcgm_exporter,
    host_map,
    kernel_log,
    kineto,
    megascan,
    nsight,
    nvidia_smi,
    run_card,
    sacct,
    sacct_json,
    scontrol,
    sinfo,
    squeue,
    step_table,
    torchtitan,
)
from ingest.sources._source import Batch, Format, Head, Reading, Refusal, Source

#: Sources in the order they are tried: the most particular first.
SOURCES: Final[tuple[Source, ...]] = (
    run_card.SOURCE,
    host_map.SOURCE,
    sacct.SOURCE,
    sacct_json.SOURCE,
    scontrol.SOURCE,
    sinfo.SOURCE,
    squeue.SOURCE,
    torchtitan.SOURCE,
    nvidia_smi.SOURCE,
    dcgm_exporter.SOURCE,
    nsight.SOURCE,
    megascan.SOURCE,
    kineto.SOURCE,
    step_table.SOURCE,
    console.SOURCE,
    kernel_log.SOURCE,
)

__all__ = ["SOURCES", "Batch", "Format", "Head", "Reading", "Refusal", "Source"]
