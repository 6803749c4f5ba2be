"""A JSON document that is small enough to be held whole."""

from typing import TypeVar

import msgspec

from ingest.sources._utf8 import is_utf8

T = TypeVar("T")

_BOM = b"\xef\xbb\xbf"
_WHITE = b" \t\r\n"


class NotJsonError(ValueError):
    """The text is no whole JSON document of the expected form.

    Attributes:
        rule: `truncated` where its end is missing, `json` where it is wrong.
        text: The text without what was repaired.
        repairs: Repairs that were made before it was found. [1]
    """

    def __init__(self, error: Exception, text: bytes, repairs: int) -> None:
        """Take over what the decoder says, which names the place."""
        super().__init__(str(error))
        self.rule = "truncated" if "truncated" in str(error) else "json"
        self.text = text
        self.repairs = repairs


def decode_whole(data: bytes, kind: type[T]) -> tuple[T, int]:
    """Return a document and the repairs that it needed.

    A byte order mark is dropped. NUL bytes at the ends and bytes that are not UTF-8,
    which are replaced, count as a repair each.

    Args:
        data: The document.
        kind: Its type, as msgspec takes it.

    Raises:
        NotJsonError: If it cannot be decoded as that type.
    """
    spaced = data.removeprefix(_BOM).strip(_WHITE)
    text = bare = spaced.strip(b"\0" + _WHITE)
    if not is_utf8(bare):
        text = bare.decode("utf-8", errors="replace").encode()
    repairs = int(bare != spaced) + int(text is not bare)
    try:
        value = msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise NotJsonError(error, text, repairs) from error
    return value, repairs
