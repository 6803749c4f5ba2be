"""Load pickles of plain data, and nothing else: no global, no persistent id."""

import io
import pickle
from typing import Final, NoReturn

from ingest.sources._flight.pickle_scan import BROKEN, CUT, GLOBAL, Fault, scan

#: What loading raises where operations do not fit each other.
_ERRORS: Final = (
    pickle.UnpicklingError,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    TypeError,
    ValueError,
)


class _Refused(pickle.UnpicklingError):
    """A pickle asked for an object that is no plain data."""


class _PlainUnpickler(pickle.Unpickler):
    """Loads only what needs no import."""

    def find_class(self, module: str, name: str) -> NoReturn:
        """Refuse a global by its name."""
        message = f"refused global {module}.{name}"
        raise _Refused(message)

    def persistent_load(self, pid: object) -> NoReturn:
        """Refuse an object that is kept elsewhere."""
        message = f"refused persistent id {type(pid).__name__}"
        raise _Refused(message)


class Plain:
    """What a pickle held, and the bytes that follow it."""

    def __init__(self, value: object, trailing: int) -> None:
        """Keep both."""
        self.value = value
        self.trailing = trailing


def load_plain(data: bytes) -> Plain | Fault:
    """Load a pickle of plain data.

    Every operation is looked at before the first one is done, so that nothing of a
    pickle that is refused has run, and memory stays a small multiple of the file.

    Args:
        data: The pickle, and whatever follows it.
    """
    end = scan(data)
    if isinstance(end, Fault):
        return end
    try:
        value = _PlainUnpickler(io.BytesIO(data[:end])).load()
    except _Refused as error:
        return Fault(GLOBAL, 0, str(error))
    except EOFError:
        return Fault(CUT, end, f"the pickle ends in the middle, at byte {end}")
    except _ERRORS as error:
        return Fault(BROKEN, 0, f"no pickle: {type(error).__name__}")
    return Plain(value, len(data) - end)
