"""Events in the reports of DCGM: a tree of health, or the results of a diagnosis."""

import re
from collections.abc import Iterator
from typing import Final

from ingest.sources._dcgm_errors import ACTIONS, CATEGORIES, IDENTIFIERS, SEVERITIES
from ingest.sources._failure_rows import Event, Meaning
from ingest.sources._failure_words import fields, gpu_in, items, number, text
from ingest.sources._json_records import JsonObject

#: Component at fault by the first word of a system's name.
_SYSTEMS: Final = {
    "pcie": "pcie",
    "nvlink": "nvlink",
    "nvswitch": "nvlink",
    "memory": "gpu_memory",
    "driver": "driver",
    "thermal": "thermal",
    "power": "power",
}
_SEVERITY: Final = {"Failure": "error", "Fail": "error", "Warning": "warning"}

#: Results of a test that tell of a failure.
_FAILED: Final = ("fail", "failed", "warn", "warning")

#: Deepest nesting of a health report that is followed: groups, devices, errors.
_DEPTH: Final = 8


def health_events(
    tree: JsonObject, place: str, path: tuple[str, ...] = ()
) -> Iterator[Event]:
    """Go down a tree of groups and devices to their errors.

    Args:
        tree: Nodes by their names.
        place: Where in the file the report is.
        path: Names of the nodes above.
    """
    for name, node in tree.items():
        children = fields(fields(node).get("children"))
        if name == "Errors":
            for system, error in children.items():
                yield _of_system(system, fields(error), place, path)
        elif len(path) < _DEPTH:
            yield from health_events(children, place, (*path, name))


def _of_system(
    system: str, error: JsonObject, place: str, path: tuple[str, ...]
) -> Event:
    more = error.get("overflow")
    parts = [more] if isinstance(more, str) else [text(one) for one in items(more)]
    state = text(error.get("value"))
    words = " ".join(part for part in parts if part) or state
    code = re.sub(r"\W+", "_", system.removesuffix(" system")).lower() or "unknown"
    component = _SYSTEMS.get(code.partition("_")[0], "gpu")
    name = f"health check of DCGM: {system}"
    return Event(
        place=f"{place}, {'/'.join(path)}",
        meaning=Meaning(
            "health", f"dcgm_{code}", name, component, _SEVERITY.get(state), None
        ),
        gpu_key=_gpu(words, *path[-2:]),
        message=words or system,
        part=None if path[:1] == ("GPU",) else " ".join(path) or None,
    )


def diagnosis_events(value: JsonObject, place: str) -> Iterator[Event]:
    """Yield the warnings of every test that did not pass.

    Args:
        value: An object with `test_categories`.
        place: Where in the file it is.
    """
    for category in items(value.get("test_categories")):
        for one in items(fields(category).get("tests")):
            test = fields(one)
            name = text(test.get("name")) or "unknown"
            for result in items(test.get("results")):
                yield from _of_result(fields(result), name, f"{place}, {name}")


def _of_result(one: JsonObject, test: str, place: str) -> Iterator[Event]:
    status = text(one.get("status"))
    if status.lower() not in _FAILED:
        return
    group = text(one.get("entity_group")) or "GPU"
    told = [one[k] for k in ("entity_id", "gpu_id", "gpu_ids") if k in one]
    entity = str(told[0]) if told else ""
    found = one.get("warnings")
    warnings = [found] if isinstance(found, str | dict) else items(found)
    for warning in warnings or [{}]:
        fact = fields(warning)
        words = text(warning) or text(fact.get("warning")) or f"{test}: {status}"
        yield Event(
            place=place,
            meaning=_meaning(fact, test, status),
            gpu_key=_gpu(words, group, entity),
            message=words,
            part=None if group == "GPU" else f"{group} {entity}",
        )


def _meaning(told: JsonObject, test: str, status: str) -> Meaning:
    error = number(told.get("error_id"))
    plain = re.sub(r"\W+", "_", test).lower()
    code = f"diag_{plain}" if error is None else f"dcgm_{error}"
    given = number(told.get("error_severity"))
    failed = "error" if status.lower().startswith("fail") else "warning"
    return Meaning(
        "health",
        IDENTIFIERS.get(-1 if error is None else error, code),
        f"test of DCGM failed: {test}",
        CATEGORIES.get(number(told.get("error_category")) or 0, "gpu"),
        failed if given is None else SEVERITIES.get(given, failed),
        None if given is None else ACTIONS.get(given),
    )


def _gpu(words: str, group: str = "", entity: str = "") -> str | None:
    """Return the GPU that a sentence names, else by its number in DCGM."""
    if named := gpu_in(words):
        return named
    is_number = group == "GPU" and re.fullmatch(r"\d{1,4}", entity, re.ASCII)
    return f"index:{int(entity)}" if is_number else None
