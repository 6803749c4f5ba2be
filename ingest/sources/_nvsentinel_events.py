"""Health events of NVSentinel as rows: codes, severities, GPUs, times."""

from typing import Final

from ingest.sources._failure_rows import Event, Meaning, sxid_meaning, xid_meaning
from ingest.sources._failure_words import (
    fields,
    gpu_in,
    items,
    number,
    pci_address,
    rfc3339_ns,
    switch_in,
    text,
)
from ingest.sources._json_records import JsonObject
from ingest.times import SECOND_NS

_ACTIONS: Final = {
    "NONE": "none",
    "0": "none",
    "COMPONENT_RESET": "reset_gpu",
    "2": "reset_gpu",
    "RESTART_VM": "reboot_node",
    "15": "reboot_node",
    "RESTART_BM": "reboot_node",
    "24": "reboot_node",
    "RESTART_APP": "restart_application",
    "39": "restart_application",
    **dict.fromkeys(
        ("CONTACT_SUPPORT", "RUN_FIELDDIAG", "REPLACE_VM", "RUN_DCGMEUD"),
        "inspect_hardware",
    ),
    **dict.fromkeys(("5", "6", "25", "26"), "inspect_hardware"),
}

#: Component at fault by a word in the name of a check, the first that fits, else by
#: the class of the component.
_CHECKS: Final = {
    "nvlink": "nvlink",
    "nvswitch": "nvlink",
    "sxid": "nvlink",
    "fabricmanager": "nvlink",
    "mem": "gpu_memory",
    "ecc": "gpu_memory",
    "pcie": "pcie",
    "thermal": "thermal",
    "power": "power",
    "driver": "driver",
}
_CLASSES: Final = {
    "gpu": "gpu",
    "nvswitch": "nvlink",
    "nic": "network",
    "network": "network",
}

#: Types of entities that are the GPU or the node.
_OF_GPU: Final = ("GPU", "GPU_UUID", "PCI", "NODE")


def lower(value: object) -> JsonObject:
    """Return an object with its keys in lower case."""
    return {key.lower(): one for key, one in fields(value).items()}


def event_of(event: JsonObject, check: str, code: str, place: str) -> Event:
    """Return the row of one code of an event.

    Args:
        event: The event, its keys in lower case.
        check: Name of the check that reported it.
        code: The code, empty where there is none.
        place: Where in the file it is.
    """
    message = text(event.get("message"))
    meaning, inferred = _meaning(event, check, code)
    action = str(event.get("recommendedaction") or "NONE")
    if event.get("recommendedaction") is not None:
        meaning = meaning._replace(action=_ACTIONS.get(action, meaning.action))
    gpu, part = _entities(event, message)
    if meaning.source == "sxid":
        gpu, part = _of_switch(gpu, part, message)
    return Event(
        place=place,
        meaning=meaning,
        host=text(event.get("nodename")) or None,
        gpu_key=gpu,
        time_ns=_time_ns(event.get("generatedtimestamp")),
        message=message or check,
        inferred=inferred,
        part=part,
    )


def _meaning(event: JsonObject, check: str, code: str) -> tuple[Meaning, bool]:
    """Return what an event means, and whether its code was inferred."""
    plain = check.lower().removeprefix("syslogs")
    severity = "fatal" if event.get("isfatal") is True else "warning"
    digits = number(code)
    if "sxid" in plain and digits:
        return sxid_meaning(digits, severity), False
    if "falloff" in plain or "fallenoff" in plain:
        return xid_meaning(79), code != "79"
    if "xid" in plain and digits:
        return xid_meaning(digits), False
    kind = text(event.get("componentclass")).lower()
    component = next((it for key, it in _CHECKS.items() if key in plain), None)
    component = component or _CLASSES.get(kind, "host")
    name = f"check of NVSentinel failed: {check}"
    return Meaning("health", code or check, name, component, severity, None), False


def _entities(event: JsonObject, message: str) -> tuple[str | None, str | None]:
    """Return the GPU that an event is about, and the other things that it names."""
    found: dict[str, str] = {}
    for one in items(event.get("entitiesimpacted")):
        entity = lower(one)
        kind = text(entity.get("entitytype")).upper()
        found.setdefault(kind, str(entity.get("entityvalue") or ""))
    gpu = gpu_in(found.get("GPU_UUID", "")) or gpu_in(found.get("GPU", ""))
    gpu = gpu or pci_address(found.get("PCI", "")) or gpu_in(message)
    index = number(found.get("GPU", ""))
    if gpu is None and index is not None:
        gpu = f"index:{index}"
    other = {kind: it for kind, it in found.items() if kind not in _OF_GPU and it}
    return gpu, ", ".join(f"{kind.lower()} {it}" for kind, it in other.items()) or None


def _of_switch(
    gpu: str | None, part: str | None, message: str
) -> tuple[str | None, str | None]:
    """Take an address for that of the switch, which an SXid is about."""
    switch = switch_in(message)
    if gpu and pci_address(gpu) == gpu:
        own = f"switch {gpu}, {part}" if part else f"switch {gpu}"
        return None, switch or own
    return gpu, switch or part


def _time_ns(value: object) -> int | None:
    """Return the instant of a time stamp of protobuf, in any of its forms. [ns]"""
    if isinstance(value, str):
        return rfc3339_ns(value)
    stamp = lower(value)
    seconds, nanos = (
        number(fields(one).get("$numberLong") if isinstance(one, dict) else one)
        for one in (stamp.get("seconds"), stamp.get("nanos"))
    )
    return None if seconds is None else seconds * SECOND_NS + (nanos or 0)
