"""The source or the table whose names are most like those of a file."""

from collections.abc import Collection, Sequence
from typing import Final

from ingest.sources import SOURCES
from ingest.tables import TABLES, IngestedFiles, RejectedRows, RunCards, Table

#: Names that a file must share with a table or a source to be called near it: two may
#: meet by chance (`name`, `step`).
_SHARED: Final = 3

#: Names of a file that are told to be a source's, too.
_TOLD: Final = 4

#: Tables that no file of somebody else fills.
_OWN: Final[tuple[type[Table], ...]] = (IngestedFiles, RejectedRows, RunCards)

#: Columns or keys by which a format is known where its file lacks others that it needs.
_NAMES: Final = {
    "nvidia-smi": (
        *("timestamp", "index", "uuid", "pci.bus_id", "power.draw", "temperature.gpu"),
        *("utilization.gpu", "memory.used", "power.draw.average", "clocks.sm"),
    ),
    "codecarbon": (
        *("run_id", "duration", "emissions", "emissions_rate", "energy_consumed"),
        *("gpu_power", "gpu_energy", "cpu_power", "cpu_energy", "ram_energy"),
    ),
    "torchtitan": ("log_type", "log_type_name", "global_rank", "time_us", "seq_id"),
    "trainer-state": (
        "log_history",
        "global_step",
        "max_steps",
        "best_metric",
        "epoch",
    ),
    "straggler-trace": ("dp_rank", "seq_id", "mb_id", "optype", "start_ts", "duration"),
    "kineto": ("traceEvents", "schemaVersion", "deviceProperties", "distributedInfo"),
    "kubernetes-events": (
        *("involvedObject", "regarding", "reason", "firstTimestamp", "lastTimestamp"),
        *("eventTime", "reportingComponent", "apiVersion", "metadata"),
    ),
    "sacct": (
        *("JobID", "JobIDRaw", "JobName", "State", "Submit", "Start", "End", "NNodes"),
        *("ExitCode", "NodeList", "AllocTRES", "Partition", "Elapsed"),
    ),
    "squeue": ("JOBID", "STATE", "NAME", "START_TIME", "NODELIST", "SUBMIT_TIME"),
    "sinfo": ("NODELIST", "STATE", "REASON", "TIMESTAMP", "PARTITION", "AVAIL"),
    "nccl-inspector": ("header", "metadata", "coll_perf", "n_ranks"),
    "flight-recorder": ("version", "pg_config", "pg_status", "entries", "nccl_version"),
    "host-map": ("rank", "host", "local_rank", "gpu_uuid", "pci_address"),
}


def nearest(names: Sequence[str]) -> str:
    """Return the source or the table whose names are most like some names."""
    return _needing(names) or _of_sources(names) or _of_tables(names)


def _needing(names: Collection[str]) -> str:
    known = set(names)
    for source in SOURCES:
        lacks = [name for name in source.needs if name not in known]
        has_first = source.needs[:1] != tuple(lacks[:1])
        if has_first and 0 < len(lacks) * 2 <= len(source.needs):
            return f"nearest: {source.name}, which also needs {', '.join(lacks)}"
    return ""


def _of_sources(names: Sequence[str]) -> str:
    # nvidia-smi writes units behind its names
    known = dict.fromkeys(name.partition(" [")[0] for name in names)

    def shared(source: str) -> list[str]:
        return [name for name in known if name in _NAMES[source]]

    near = max(_NAMES, key=lambda source: len(shared(source)))
    found = shared(near)
    if len(found) < _SHARED or 2 * len(found) < min(len(known), len(_NAMES[near])):
        return ""
    more = f" and {len(found) - _TOLD} more" if len(found) > _TOLD else ""
    return f"nearest: {near}, which has {', '.join(found[:_TOLD])}{more}, too"


def _of_tables(names: Sequence[str]) -> str:
    known = set(names)

    def shared(table: type[Table]) -> int:
        return len(known.intersection(table.column_names()))

    near = max((t for t in TABLES if t not in _OWN), key=shared)
    if shared(near) < _SHARED or 2 * shared(near) < len(known):
        return ""
    told = f"{shared(near)} of {len(known)} are columns of {near.sql_name()}"
    lacks = [
        name
        for name, column in near.columns().items()
        if not column.nullable and name not in {*known, "file_id"}
    ]
    return f"{told}, which also needs {', '.join(lacks)}" if lacks else told
