"""The facts of one incident: what broke, where, and what it stopped."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis._claim_lines import lines_of
from analysis._failure_roles import OPERATOR
from analysis.gpus import Gpus
from analysis.incidents import Incidents
from analysis.interruptions import Interruptions
from analysis.loss_phases import PHASES, LossPhases
from ingest.quoting import Quotes
from ingest.tables import IngestedFiles
from reports import _code_words

_ADDRESS: Final = re.compile(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}")

#: What tells one stop of a run from another.
STOP: Final = ["run_id", "attempt", "stop"]

#: Categories of causes that lie with whoever runs the machines.
CLAIMABLE: Final = ("hardware", "network", "facilities")

#: The other categories, as a sentence goes on.
_CAUSES: Final = {
    "software": "software",
    "human": "what a person did",
    "maintenance": "maintenance",
    "user": "the application or who runs it",
    "scheduler": "the scheduler",
}

#: UUIDs of GPUs begin so, and those of instances of a partitioned one.
_UUIDS: Final = ("GPU-", "MIG-")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the lake and the files tell of an incident.

    Attributes:
        incident: Its row of Incidents.
        lines: Its rows of Failures.
        files: Rows of IngestedFiles of these.
        quotes: Lines found again in the files, by `file_id`.
        gpu: UUID, serial, PCI address and rank of its GPU; None where not known.
        stops: Interruptions that are laid to it.
        phases: Their rows of LossPhases, what others lost left out.
    """

    incident: Mapping[str, Any]
    lines: pl.DataFrame
    files: pl.DataFrame
    quotes: Mapping[str, Quotes]
    gpu: Mapping[str, Any]
    stops: pl.DataFrame
    phases: pl.DataFrame

    @property
    def code(self) -> str:
        """The root code as people write it."""
        told = self.incident
        return _code_words.code(told["root_source"], told["root_code"], told["name"])

    @property
    def told(self) -> str:
        """The root code with its meaning, where that says more."""
        told = self.incident
        root = told["root_source"], told["root_code"]
        return _code_words.with_meaning(*root, told["name"])

    @property
    def is_written_down(self) -> bool:
        """Whether only people tell of it, in a list of their own."""
        return set(self.lines["source"]) <= {OPERATOR}

    @property
    def hosts(self) -> list[str]:
        """The nodes that tell of it."""
        if self.incident["host"]:
            return [str(self.incident["host"])]
        found = self.lines["host"].drop_nulls().unique().sort().to_list()
        return [str(host) for host in found]

    @property
    def doubt(self) -> str:
        """Why nothing here points at the provider; empty where something does."""
        told = self.incident
        if told["root_source"] == OPERATOR and told["severity"] == "info":
            return "it was planned work"
        if told["category"] not in CLAIMABLE:
            return f"its cause is {_CAUSES.get(told['category'], 'not known')}"
        return "" if self.hosts else "no source names a node"

    @property
    def root(self) -> pl.DataFrame:
        """The lines of the root code."""
        source, code = (self.incident[f"root_{part}"] for part in ("source", "code"))
        return self.lines.filter(
            (pl.col("source") == source) & (pl.col("code") == code)
        )


def facts_of(frames: Frames, incident_id: str, quotes: Mapping[str, Quotes]) -> Facts:
    """Return the facts of an incident that is in the lake.

    Args:
        frames: The tables.
        incident_id: The incident.
        quotes: Lines found again in the files, by `file_id`.
    """
    of_it = Incidents.incident_id.col == incident_id
    (incident,) = frames[Incidents].filter(of_it).collect().to_dicts()
    lines = lines_of(frames, incident_id).collect()
    stops = frames[Interruptions].filter(Interruptions.incident_id.col == incident_id)
    files = frames[IngestedFiles].join(
        lines.lazy().select("file_id").unique(), on="file_id", how="semi"
    )
    serials = {found.serial for found in quotes.values() if found.serial}
    return Facts(
        incident=incident,
        lines=lines,
        files=files.sort("path", "file_id").collect(),
        quotes=quotes,
        gpu=_gpu(frames, incident, lines, serials),
        stops=stops.sort(STOP).collect(),
        phases=_phases(frames, stops),
    )


def _phases(frames: Frames, stops: pl.LazyFrame) -> pl.DataFrame:
    order = {phase: place for place, phase in enumerate(PHASES)}
    told = frames[LossPhases].join(stops.select(STOP), on=STOP, how="semi")
    place = pl.col("phase").replace_strict(order, default=len(order))
    return told.drop_nulls("account").sort(*STOP, place).collect()


def _gpu(
    frames: Frames, incident: Mapping[str, Any], lines: pl.DataFrame, serials: set[str]
) -> dict[str, Any]:
    key, host = incident["gpu_key"] or _only(lines), incident["host"]
    mapped = _mapped(frames, key, host, incident["first_ns"])
    is_uuid = bool(key) and str(key).startswith(_UUIDS)
    is_address = bool(key) and _ADDRESS.fullmatch(str(key)) is not None
    said = lines.filter(pl.col("gpu_key") == key)["message"].to_list() if key else []
    found = [hit[0] for text in said if (hit := _ADDRESS.search(text))]
    return {
        "uuid": mapped.get("gpu_uuid") or (key if is_uuid else None),
        "serial": mapped.get("serial")
        or (next(iter(serials)) if len(serials) == 1 else None)
        or (key if key and not is_uuid and not is_address else None),
        "pci": mapped.get("pci_address")
        or (key if is_address else None)
        or (found[0].lower() if found else None),
        "rank": mapped.get("rank"),
        "key": key,
    }


def _only(lines: pl.DataFrame) -> str | None:
    """Return the GPU that lines name where the root does not, if it is one alone."""
    keys = lines["gpu_key"].drop_nulls().unique().to_list()
    return str(keys[0]) if len(keys) == 1 else None


def _mapped(
    frames: Frames, key: str | None, host: str | None, at_ns: int | None
) -> dict[str, Any]:
    """Return what the host map tells of a GPU, in its role nearest to a time."""
    if key is None:
        return {}
    ours = (pl.col("gpu_uuid") == key) | (pl.col("serial") == key)
    ours |= (pl.col("pci_address") == key) & pl.col("host").eq_missing(host)
    roles = frames[Gpus].filter(ours)
    if at_ns is not None:
        begun = pl.col("from_ns") <= at_ns
        roles = roles.sort(
            [begun, pl.col("from_ns"), "run_id", "attempt", "rank"],
            descending=[True, True, False, False, False],
            nulls_last=True,
        )
    rows = roles.head(1).collect().to_dicts()
    return rows[0] if rows else {}
