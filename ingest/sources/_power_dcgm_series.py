"""Lines of an exporter's text: the series, its value and its time."""

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Final

from ingest.errors import TelemetryError
from ingest.sources._power_address import identity
from ingest.sources._power_dcgm_fields import Field, Number, field_of

if TYPE_CHECKING:
    from prometheus_client.samples import Sample

#: Time stamps from here on are milliseconds, below they are seconds (as OpenMetrics
#: writes them): as milliseconds this is 1973, as seconds the year 5138.
EARLIEST_MS: Final = 100_000_000_000

#: Latest time stamp whose nanoseconds fit an Int64. [ms]
_LATEST_MS: Final = (2**63 - 1) // 1_000_000

_MS_NS: Final = 1_000_000

_UUID: Final = ("UUID", "uuid", "gpu_uuid")
_HOST: Final = ("Hostname", "hostname")


class BrokenLineError(TelemetryError):
    """A line that is no sample; its text is the rule that it breaks."""


@dataclass(slots=True)
class Series:
    """A series of a field that is stored, or of another one.

    Attributes:
        field: The field; None for others.
        host: Node that the labels name.
        gpu: GPU that the labels name, by UUID or else by address or index.
        last: Its last value without a time stamp.
    """

    field: Field | None
    host: str | None = None
    gpu: str | None = None
    last: Number | None = None


def cut(line: str) -> tuple[str, str]:
    """Cut a line into the name with its labels, and the rest."""
    labels, brace, rest = line.rpartition("}")
    if brace:
        return labels + brace, rest
    name, _, rest = line.replace("\t", " ").partition(" ")
    return name, rest


def value_of(rest: str) -> tuple[Number, int | None]:
    """Return value and time of what follows a series; None without a time. [ns]

    Raises:
        BrokenLineError: If it is not a number, or a number and a time stamp.
    """
    if len(rest.split()) not in {1, 2}:
        message = "value|number"
        raise BrokenLineError(message)
    sample = _parse(f"x {rest}", "value|number")
    time_ns = None if sample.timestamp is None else _time_ns(float(sample.timestamp))
    return sample.value, time_ns


def series_of(text: str) -> Series:
    """Return the series that a name with labels stands for.

    Raises:
        BrokenLineError: If it is of a field that is stored and has no such form, or
            names no GPU.
    """
    field = field_of(text.partition("{")[0].strip())
    if field is None:
        return Series(None)
    labels = _parse(f"{text} 0", "labels").labels
    gpu = _first(labels, _UUID) or _place(labels)
    if not gpu:
        message = "gpu_uuid|required"
        raise BrokenLineError(message)
    return Series(field, _first(labels, _HOST), gpu)


def _parse(line: str, rule: str) -> "Sample":
    from prometheus_client.parser import text_string_to_metric_families

    try:
        (family,) = text_string_to_metric_families(line)
        (sample,) = family.samples
    except (ValueError, IndexError) as error:
        raise BrokenLineError(rule) from error
    return sample


def _time_ns(stamp: float) -> int:
    # the parser has divided by 1000 what it took for milliseconds
    if isfinite(stamp):
        value = stamp * 1_000
        in_ms = round(value) if value >= EARLIEST_MS else round(value * 1_000)
        if 0 < in_ms <= _LATEST_MS:
            return in_ms * _MS_NS
    message = "time_ns|value"
    raise BrokenLineError(message)


def _first(labels: dict[str, str], names: tuple[str, ...]) -> str | None:
    return next((labels[name] for name in names if labels.get(name)), None)


def _place(labels: dict[str, str]) -> str | None:
    if gpu := identity(labels.get("pci_bus_id", "")):
        return gpu
    return f"index:{labels['gpu']}" if labels.get("gpu") else None
