"""What gpud's events and states mean: codes, components, severities, GPUs."""

import re
from typing import Final

from ingest.sources._failure_rows import Meaning, sxid_meaning, xid_meaning
from ingest.sources._failure_words import (
    fields,
    gpu_in,
    items,
    number,
    switch_in,
    sxid_in,
    text,
    xid_in,
)
from ingest.sources._json_records import JsonObject

#: What gpud calls the severity of an event, and the health of a component.
_SEVERITIES: Final = {
    "Fatal": "fatal",
    "Critical": "error",
    "Warning": "warning",
    "Info": "info",
    "Unhealthy": "error",
    "Degraded": "warning",
}
_ACTIONS: Final = {
    "REBOOT_SYSTEM": "reboot_node",
    "HARDWARE_INSPECTION": "inspect_hardware",
    "CHECK_USER_APP_AND_GPU": "restart_application",
    "IGNORE_NO_ACTION_REQUIRED": "none",
}

#: Component at fault by a word in the name of gpud's component, the first that fits.
_COMPONENTS: Final = {
    "ecc": "gpu_memory",
    "remapped-rows": "gpu_memory",
    "hbm": "gpu_memory",
    "nvlink": "nvlink",
    "nvswitch": "nvlink",
    "sxid": "nvlink",
    "fabric-manager": "nvlink",
    "infiniband": "network",
    "nccl": "network",
    "network": "network",
    "peermem": "driver",
    "accelerator": "gpu",
    "gpu": "gpu",
    "disk": "storage",
    "nfs": "storage",
    "pci": "pcie",
    "memory": "software",
    "kubelet": "software",
    "docker": "software",
    "containerd": "software",
}

_XID_WORDS: Final = re.compile(r"(?i)\bxid\b[ :=]{0,3}([0-9]{1,9})")
_SXID_WORDS: Final = re.compile(r"(?i)\bsxid\b[ :=]{0,3}([0-9]{1,9})")


def words_of(one: JsonObject) -> str:
    """Return what an event or a state says."""
    said = text(one.get("message")) or text(one.get("reason"))
    detail = text(one.get("error"))
    return f"{said}: {detail}" if detail and detail != said else said


def event_meaning(one: JsonObject, component: str, words: str) -> Meaning:
    """Return what an event means, from its name and its words."""
    extra = fields(one.get("extra_info"))
    lines = _lines(one, words)
    name = text(one.get("name"))
    if "sxid" in f"{component} {name}":
        if quoted := next((it for line in lines if (it := sxid_in(line))), None):
            return sxid_meaning(*quoted)
        if code := _code(_SXID_WORDS, extra, "sxid", lines):
            return sxid_meaning(code, "error")
    elif "xid" in f"{component} {name}":
        code = next((n for line in lines if (n := xid_in(line))), None)
        if code := code or _code(_XID_WORDS, extra, "xid", lines):
            return xid_meaning(code)
    return Meaning(
        "health", name, name.replace("_", " "), _at_fault(component), None, None
    )


def state_meaning(component: str) -> Meaning:
    """Return what a state means that is not healthy."""
    name = f"{component} is not healthy"
    return Meaning("health", component, name, _at_fault(component), None, None)


def _at_fault(component: str) -> str:
    return next((it for key, it in _COMPONENTS.items() if key in component), "host")


def _code(
    words: re.Pattern[str], extra: JsonObject, key: str, lines: list[str]
) -> int | None:
    if (told := number(extra.get(key))) is not None:
        return told
    found = (words.search(line) for line in lines)
    return next((int(match[1]) for match in found if match), None)


def as_given(one: JsonObject, meaning: Meaning) -> Meaning:
    """Return a meaning with the severity and the action that gpud itself gives.

    An Xid has those of the catalogue, whoever reports it.
    """
    if meaning.source == "xid" and meaning.severity:
        return meaning
    kind = text(one.get("type")) or text(one.get("health"))
    asked = items(fields(one.get("suggested_actions")).get("repair_actions"))
    actions = [_ACTIONS[name] for name in map(text, asked) if name in _ACTIONS]
    return meaning._replace(
        severity=_SEVERITIES.get(kind, meaning.severity),
        action=actions[0] if actions else meaning.action,
    )


def gpu_of(one: JsonObject, words: str) -> str | None:
    """Return the GPU that an event names."""
    extra = fields(one.get("extra_info"))
    texts = [text(extra.get(key)) for key in ("gpu_uuid", "device_uuid", "device_id")]
    texts += _lines(one, words)
    return next((key for line in texts if (key := gpu_in(line))), None)


def switch_of(one: JsonObject, words: str) -> str | None:
    """Return the switch that an event names, and its link."""
    return next((it for line in _lines(one, words) if (it := switch_in(line))), None)


def _lines(one: JsonObject, words: str) -> list[str]:
    """Return all that an event says."""
    return [words, *map(text, fields(one.get("extra_info")).values())]
