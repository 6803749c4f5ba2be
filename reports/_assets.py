"""The parts of the page that are always the same, and the policy that fixes them."""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import vl_convert

from reports._words import visible
from reports.theme import CONFIG, NUMBER_LOCALE

#: What Vega's bundle hands to our script, and nothing more.
_EXPORT: Final = "window.vegaEmbed = vegaEmbed;"

#: Below this, six digits are more than a drawing can show; times are far above.
_SHORT_BELOW: Final = 1e6

#: Characters that could end a script element, or that JSON may hold and HTML not.
_UNSAFE: Final = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


@dataclass(frozen=True, slots=True)
class Assets:
    """Texts that go into the page as they are.

    Attributes:
        bundle: Vega, Vega-Lite and the embedder.
        script: Our own script.
        style: Our own style.
        policy: Content security policy: these three by hash, and no network.
    """

    bundle: str
    script: str
    style: str
    policy: str


@cache
def load() -> Assets:
    """Return the assets; making the bundle takes a second or two.

    Raises:
        ValueError: If the bundle could end its own script element.
    """
    bundle = f"(()=>{{{vl_convert.javascript_bundle(_EXPORT)}}})();"
    if "</script" in bundle.lower():
        message = "Vega's bundle would end its script element: another version needed"
        raise ValueError(message)
    script, style = _template("page.js"), _template("page.css")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none';"
        f" script-src {_hash(bundle)} {_hash(script)};"
        f" style-src {_hash(style)}; img-src data:"
    )
    return Assets(bundle, script, style, policy)


def style_alone(*names: str) -> tuple[str, str]:
    """Return the style of a page without scripts, and the policy that fixes it.

    Args:
        names: Files of styles, in their order.
    """
    style = "".join(_template(name) for name in names)
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none';"
        f" style-src {_hash(style)}; img-src data:"
    )
    return style, policy


def data(specs: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the drawings as JSON that cannot leave a script element.

    Args:
        specs: Drawings by the name of their chart.
    """
    whole = {"config": CONFIG, "locale": NUMBER_LOCALE, "specs": specs}
    return json.dumps(whole, allow_nan=False, separators=(",", ":")).translate(_UNSAFE)


def visible_spec(part: Any) -> Any:
    """Return a drawing whose texts hide nothing, and whose numbers no pixel misses.

    Args:
        part: A drawing or a part of one.
    """
    if isinstance(part, float):
        return _short(part)
    if isinstance(part, str):
        return visible(part)
    if isinstance(part, Mapping):
        return {key: visible_spec(value) for key, value in part.items()}
    if isinstance(part, list):
        return [visible_spec(value) for value in part]
    return part


def _short(value: float) -> float:
    """Return a number with the digits that a drawing can show; times keep theirs."""
    return float(f"{value:.6g}") if abs(value) < _SHORT_BELOW else value


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _template(name: str) -> str:
    text = files("reports").joinpath("templates", name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")
