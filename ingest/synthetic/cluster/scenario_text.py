"""A scenario as the text of its file, with what each key means."""

import inspect
import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import inspect as types

from ingest.synthetic.cluster._scenario_faults import OF_SEVERITY, SEVERITIES, Fault

if TYPE_CHECKING:
    from ingest.synthetic.cluster.scenario import Scenario

_HEAD: Final = (
    "# A scenario of gpuledger generate. A key behind a # has its default.",
)

#: Where a whole number is written without an exponent, though it is a float.
_EXACT: Final = 1e15

#: An attribute in a docstring, and what it goes on with.
_ATTRIBUTE: Final = re.compile(r" {4}(\w+): (.*)")
_MORE: Final = re.compile(r" {8,}(.*)")


def scenario_lines(scenario: "Scenario") -> Iterator[str]:
    """Yield the lines of a file that makes a scenario, and tells of all of its keys."""
    yield from _HEAD
    parts = []
    for field in _fields(type(scenario)):
        value = getattr(scenario, field.name)
        if isinstance(value, msgspec.Struct):
            parts.append((field.name, value))
        elif field.name != "faults":
            yield from _key(type(scenario), field, value)
    for name, value in parts:
        yield from ("", f"# {_summary(type(value))}", f"[{name}]")
        yield from _keys(value)
    yield from _faults(scenario.faults)


def _keys(part: msgspec.Struct) -> Iterator[str]:
    for field in _fields(type(part)):
        yield from _key(type(part), field, getattr(part, field.name))


def _fields(kind: type[msgspec.Struct]) -> tuple[types.Field, ...]:
    found: tuple[types.Field, ...] = getattr(types.type_info(kind), "fields", ())
    return found


def _key(
    kind: type[msgspec.Struct], field: types.Field, value: object
) -> Iterator[str]:
    """Yield what a key means and may be, then the key."""
    default = _default(field)
    told = "must be given" if field.required else f"default {_toml(default)}"
    yield f"# {_meanings(kind).get(field.name, '')} ({_bounds(field.type)}{told})"
    if value is None:
        yield f"#{field.name} ="
    else:
        is_default = not field.required and value == default
        yield f"{'#' if is_default else ''}{field.name} = {_toml(value)}"


def _faults(faults: tuple[Fault, ...]) -> Iterator[str]:
    """Yield what faults may be, then those that are listed."""
    yield from ("", f"# {_summary(Fault)} As many [[faults]] as there are, each with:")
    meanings = _meanings(Fault)
    for field in _fields(Fault):
        bounds = _bounds(field.type).removesuffix("; ")
        yield f"#   {field.name}: {meanings.get(field.name)} ({bounds})"
    yield "# Kinds, with the severity that they have by default, and what it is of:"
    for kind, meaning in OF_SEVERITY.items():
        yield f"#   {kind} ({SEVERITIES[kind]:g}): {meaning}"
    for fault in faults:
        yield from ("", "[[faults]]")
        given = ((name, getattr(fault, name)) for name in fault.__struct_fields__)
        yield from (f"{name} = {_toml(one)}" for name, one in given if one is not None)


def _default(field: types.Field) -> object:
    return None if field.default is msgspec.NODEFAULT else field.default


def _summary(kind: type) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def _meanings(kind: type) -> dict[str, str]:
    """Return what the docstring of a table says of each key."""
    found: dict[str, str] = {}
    for line in (inspect.getdoc(kind) or "").splitlines():
        if begun := _ATTRIBUTE.fullmatch(line):
            found[begun[1]] = begun[2]
        elif (more := _MORE.fullmatch(line)) and found:
            found[list(found)[-1]] += f" {more[1]}"
    return found


def _bounds(kind: types.Type) -> str:
    """Return what a value may be, with `; ` behind it; nothing where all may be."""
    if isinstance(kind, types.UnionType):
        (kind,) = (one for one in kind.types if not isinstance(one, types.NoneType))
    if isinstance(kind, types.LiteralType):
        return f"one of {', '.join(map(str, kind.values))}; "
    if isinstance(kind, types.BoolType):
        return "true or false; "
    if isinstance(kind, types.TupleType):
        return f"two numbers, each {_bounds(kind.item_types[0])}"
    if isinstance(kind, types.VarTupleType):
        return f"each {_bounds(kind.item_type)}"
    if not isinstance(kind, types.IntType | types.FloatType):
        return ""
    above, least, most = kind.gt, kind.ge, kind.le
    low = f"above {_toml(above)}" if above is not None else _toml(least)
    return f"{low} to {_toml(most)}; " if most is not None else f"{low} or more; "


def _toml(value: object) -> str:
    """Return a value as TOML."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if value is None:
        return "none"
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return f"{int(value):_}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:_}"
    # of text without what is quoted, and of numbers and words, as JSON has them
    return json.dumps(value, ensure_ascii=False)
