"""What kind of event a category means.

A category alone makes work of a GPU: a host operation may carry a stream, too.
"""

from enum import Enum
from typing import Final

#: Kinds of events; the bytes that stand for them in a block.
OTHER_KIND, KERNEL_KIND, COPY_KIND, LAUNCH_KIND, HOST_KIND, WINDOW_KIND = range(6)

#: Endings of the categories of calls that launch work, on any vendor's devices.
_LAUNCHES: Final = ("runtime", "driver")


class Category(Enum):
    """Categories as traces spell them.

    Those that mean nothing here are listed to be decoded as fast as the others.
    """

    def __new__(cls, spelling: str, kind: int) -> "Category":
        """Make a member whose value is its spelling."""
        member = object.__new__(cls)
        member._value_ = spelling
        member.kind = kind
        return member

    kind: int

    NONE = "", OTHER_KIND
    UNKNOWN = "unknown", OTHER_KIND
    CPU_OP = "cpu_op", HOST_KIND
    OPERATOR = "operator", HOST_KIND
    OLD_OPERATOR = "Operator", HOST_KIND
    USER_ANNOTATION = "user_annotation", HOST_KIND
    TRACE = "Trace", WINDOW_KIND
    LOWER_TRACE = "trace", WINDOW_KIND
    KERNEL = "kernel", KERNEL_KIND
    OLD_KERNEL = "Kernel", KERNEL_KIND
    GPU_MEMCPY = "gpu_memcpy", COPY_KIND
    MEMCPY = "memcpy", COPY_KIND
    OLD_MEMCPY = "Memcpy", COPY_KIND
    GPU_MEMSET = "gpu_memset", COPY_KIND
    MEMSET = "memset", COPY_KIND
    OLD_MEMSET = "Memset", COPY_KIND
    MTIA_EVENTS = "mtia_ccp_events", KERNEL_KIND
    CUDA_RUNTIME = "cuda_runtime", LAUNCH_KIND
    CUDA_DRIVER = "cuda_driver", LAUNCH_KIND
    OLD_RUNTIME = "Runtime", LAUNCH_KIND
    PYTHON_FUNCTION = "python_function", OTHER_KIND
    LINK_TO_GPU = "ac2g", OTHER_KIND
    OLD_LINK_TO_GPU = "async_cpu_to_gpu", OTHER_KIND
    OLDER_LINK_TO_GPU = "async", OTHER_KIND
    LINK_TO_BACKWARD = "fwdbwd", OTHER_KIND
    CPU_INSTANT = "cpu_instant_event", OTHER_KIND
    GPU_USER_ANNOTATION = "gpu_user_annotation", OTHER_KIND
    CUDA_SYNC = "cuda_sync", OTHER_KIND
    OVERHEAD = "overhead", OTHER_KIND

    @classmethod
    def _missing_(cls, value: object) -> "Category":
        """Tell what a spelling means that is not listed."""
        lower = str(value).lower()
        if lower.endswith(_LAUNCHES):
            return cls.CUDA_RUNTIME
        return next((one for one in cls if one.value == lower), cls.UNKNOWN)


def selector(*kinds: int) -> bytes:
    """Return a table for bytes.translate: 1 for some kinds, 0 for all others."""
    return bytes(code in kinds for code in range(256))
