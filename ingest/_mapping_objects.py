"""Fields of JSON objects, as text that keeps every digit."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import polars as pl

from ingest._mapping_cells import PLACE, RULE, column_of, content

#: Rule of an object with a text that is no JSON, as half of a surrogate pair.
BAD_JSON: Final = "json"

_EMPTY: Final = b"{}"


@dataclass(slots=True)
class Objects:
    """Decodes objects, and takes fields out of them.

    A path with dots is a key of that name, else a way through nested objects.
    """

    fields: tuple[str, ...]
    keys: list[str] = field(init=False)
    kind: type[msgspec.Struct] = field(init=False)
    inner: dict[str, "Objects"] = field(init=False)

    def __post_init__(self) -> None:
        """Prepare the decoding of the keys that the paths begin with."""
        below: dict[str, list[str]] = {}
        for name in self.fields:
            key, dot, rest = name.partition(".")
            if dot and key and rest:
                below.setdefault(key, []).append(rest)
        self.keys = list(dict.fromkeys([*self.fields, *below]))
        raw: list[Any] = [
            (f"k{i}", msgspec.Raw, msgspec.Raw()) for i in range(len(self.keys))
        ]
        names = {f"k{i}": key for i, key in enumerate(self.keys)}
        self.kind = msgspec.defstruct("Object", raw, rename=names, gc=False)
        self.inner = {key: Objects(tuple(rest)) for key, rest in below.items()}

    def raw(self, objects: Sequence[msgspec.Struct]) -> dict[str, list[bytes]]:
        """Return the JSON of every field, empty where an object has it not."""
        found = {
            key: [bytes(getattr(one, f"k{i}")) for one in objects]
            for i, key in enumerate(self.keys)
        }
        columns = {name: found[name] for name in self.fields}
        for key, inner in self.inner.items():
            decoder: Any = msgspec.json.Decoder(inner.kind)
            nested = inner.raw([_object(decoder, value) for value in found[key]])
            for rest, values in nested.items():
                name = f"{key}.{rest}"
                both = zip(columns[name], values, strict=True)
                columns[name] = [flat or deep for flat, deep in both]
        return columns


def _object(decoder: Any, value: bytes) -> msgspec.Struct:
    try:
        found: msgspec.Struct = decoder.decode(
            value if value.startswith(b"{") else _EMPTY
        )
    except (msgspec.DecodeError, RecursionError):
        return _object(decoder, _EMPTY)
    return found


def frame_of(
    raw: dict[str, list[bytes]], places: Sequence[str], null: tuple[str, ...]
) -> pl.DataFrame:
    """Return fields as text, with `place` and `rule`."""
    json = pl.DataFrame(
        {
            column_of(name): pl.Series(values, dtype=pl.Binary).cast(pl.String)
            for name, values in raw.items()
        }
        | {PLACE: pl.Series(places, dtype=pl.String)}
    )
    texts = {column_of(name): _text(pl.col(column_of(name))) for name in raw}
    is_bad = pl.any_horizontal(
        pl.col(name).str.starts_with('"') & text.is_null()
        for name, text in texts.items()
    )
    return json.select(
        PLACE,
        pl.when(is_bad).then(pl.lit(BAD_JSON)).alias(RULE),
        **{name: content(text, null) for name, text in texts.items()},
    )


def _text(json: pl.Expr) -> pl.Expr:
    """Return the text of JSON strings, and all else as it is written."""
    is_text = json.str.starts_with('"')
    is_escaped = json.str.contains("\\", literal=True)
    plain = json.str.slice(1, json.str.len_chars() - 2)
    escaped = pl.when(is_text & is_escaped).then(json)
    decoded = escaped.map_elements(_decoded, return_dtype=pl.String)
    return (
        pl.when(is_text & is_escaped)
        .then(decoded)
        .when(is_text)
        .then(plain)
        .when(json != "null")
        .then(json)
    )


def _decoded(text: str) -> str | None:
    try:
        return msgspec.json.decode(text.encode(), type=str)
    except msgspec.DecodeError:
        return None
