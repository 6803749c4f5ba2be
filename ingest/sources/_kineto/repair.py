"""Mend a record that is not JSON, in the ways in which profilers break it.

Sources: pytorch #98432 (backslashes), #113001 and #146900 (quotes), #130622 (control
characters); kineto prints NaN; the TensorBoard plugin mends a bare N/A.
"""

import re
from collections.abc import Iterator
from typing import Final

_TOKEN: Final = re.compile(
    rb'"[^"\\]*(?:\\.[^"\\]*)*"'
    rb"|(?<![\w.])[-+]?(?:nan|inf(?:inity)?|n/a|none|undefined)(?![\w.])"
    rb"|,(?=\s*[}\]])",
    re.DOTALL | re.IGNORECASE,
)
_ESCAPE: Final = re.compile(rb'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
_CONTROL: Final = re.compile(rb"[\x00-\x1f]")
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")

#: Start of a member whose value is a string.
_VALUE_START: Final = re.compile(rb'"[^"\\]{0,200}"\s*:\s*"')

#: The quote that ends it: another member or the end of the object follows.
_VALUE_END: Final = re.compile(rb'"(?=\s*(?:,\s*"[^"\\]{0,200}"\s*:|\}))')
#: End of a key: a string that holds one has swallowed a member, not just quotes.
_KEY_END: Final = re.compile(rb'"\s*:')

_QUOTE: Final = re.compile(rb'(\\.)|"', re.DOTALL)


def repairs(record: bytes) -> Iterator[bytes]:
    """Yield the record mended in ways that change more and more of it.

    Args:
        record: Text of one record.
    """
    text = record.decode(errors="replace").encode()
    plain = _TOKEN.sub(_mend_token, text)
    if plain != record:
        yield plain
    whole = _SURROGATE.sub(rb"\\ufffd", plain)
    if whole != plain:
        yield whole
    quoted = _escape_quotes(text)
    if quoted != text:
        yield _SURROGATE.sub(rb"\\ufffd", _TOKEN.sub(_mend_token, quoted))


def _mend_token(token: re.Match[bytes]) -> bytes:
    text = token[0]
    if text.startswith(b'"'):
        return _ESCAPE.sub(_mend_escape, _CONTROL.sub(b" ", text))
    return b"" if text == b"," else b"null"


def _mend_escape(escape: re.Match[bytes]) -> bytes:
    return escape[0] if escape[1] else rb"\\"


def _escape_quotes(text: bytes) -> bytes:
    parts: list[bytes] = []
    done = 0
    while start := _VALUE_START.search(text, done):
        end = _VALUE_END.search(text, start.end())
        if end is None:
            break
        value = text[start.end() : end.start()]
        if _KEY_END.search(value):
            return text
        parts += text[done : start.end()], _QUOTE.sub(_escape_quote, value), b'"'
        done = end.end()
    return b"".join([*parts, text[done:]])


def _escape_quote(quote: re.Match[bytes]) -> bytes:
    return quote[1] or rb"\""
