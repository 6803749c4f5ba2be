"""Memory that is free is given back, so that many days take no more than one."""

import ctypes
import os
from typing import Final

#: How jemalloc, which Polars allocates by, is told: it reads this as it is loaded.
SETTING: Final = "_RJEM_MALLOC_CONF"

#: How glibc, which NumPy allocates by, is told at its start.
_ARENAS: Final = "MALLOC_ARENA_MAX"

#: `M_ARENA_MAX` of glibc's mallopt.
_M_ARENA_MAX: Final = -8


def give_back() -> None:
    """Keep freed memory in few places, and have it given back; not what a user set.

    Left alone, jemalloc has four arenas a core and glibc eight, and what one thread
    has freed there is of no use to another: a day of 16,384 GPUs, worked on in threads
    that come and go, leaves a gigabyte behind, and the next day takes as much again.
    """
    arenas = os.cpu_count() or 1
    told = f"narenas:{arenas},background_thread:true,dirty_decay_ms:1000"
    os.environ.setdefault(SETTING, f"{told},muzzy_decay_ms:0")
    mallopt = _of_glibc("mallopt")
    if mallopt and _ARENAS not in os.environ:
        mallopt(_M_ARENA_MAX, arenas)


def trim() -> None:
    """Give back what is free between other things, as after a day; it takes moments."""
    malloc_trim = _of_glibc("malloc_trim")
    if malloc_trim:
        malloc_trim(0)


def _of_glibc(name: str) -> "ctypes._NamedFuncPointer | None":
    """Return a function of the C library; None where it is another one."""
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):
        return None
