"""Metrics that are stored: what each fills, and how its values are written."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ingest.sources._prometheus.gpu_names import GPU_FIELDS
from ingest.sources._prometheus.kinds import Field
from ingest.sources._prometheus.link_names import LINK_FIELDS, lane_of


@dataclass(frozen=True, slots=True)
class Metric:
    """What a name stands for.

    Attributes:
        field: Position of its field in FIELDS.
        lane: Number of the NVLink in the name; None where it has none.
    """

    field: int
    lane: str | None = None


#: Every field, each once; samples carry its position.
FIELDS: Final[tuple[Field, ...]] = tuple(
    dict.fromkeys((*GPU_FIELDS.values(), *LINK_FIELDS.values()))
)

_POSITION: Final = {field: n for n, field in enumerate(FIELDS)}
_OF_NAME: Final[Mapping[str, Field]] = {**GPU_FIELDS, **LINK_FIELDS}


def metric_of(name: str) -> Metric | None:
    """Return what a metric stands for; None where it is of no column."""
    lane, plain = lane_of(name)
    for known in (plain, plain.removesuffix("_total")):
        if field := _OF_NAME.get(known):
            return Metric(_POSITION[field], lane)
    return None
