"""Tables of work of an Nsight Systems export, and what their work is called."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from ingest.sources._kineto.work import CATEGORIES

COMPUTE, COMMUNICATION, MEMORY = range(len(CATEGORIES))

#: Copies by `copyKind`, in the words of PyTorch's profiler. Source:
#: ENUM_CUDA_MEMCPY_OPER; 11 to 13 are moves of unified memory.
COPIES: Final = MappingProxyType(
    {
        1: "Memcpy HtoD",
        2: "Memcpy DtoH",
        3: "Memcpy HtoA",
        4: "Memcpy AtoH",
        5: "Memcpy AtoA",
        6: "Memcpy AtoD",
        7: "Memcpy DtoA",
        8: "Memcpy DtoD",
        9: "Memcpy HtoH",
        10: "Memcpy PtoP",
        11: "Memcpy UVM HtoD",
        12: "Memcpy UVM DtoH",
        13: "Memcpy UVM DtoD",
    }
)

#: Names of a kernel, the one that tells most first.
KERNEL_NAMES: Final = ("demangledName", "shortName", "mangledName")


@dataclass(frozen=True, slots=True)
class Kind:
    """A table of work on GPUs.

    Attributes:
        table: Its name.
        category: What its work is, where the name does not tell.
        columns: Columns that name the work.
        name: Name where these columns tell none.
    """

    table: str
    category: int
    columns: tuple[str, ...]
    name: str


#: Tables of work. Graphs are traced as a whole by default: their kernels are no rows.
KINDS: Final = (
    Kind("CUPTI_ACTIVITY_KIND_KERNEL", COMPUTE, KERNEL_NAMES, "unnamed kernel"),
    Kind("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", COMPUTE, (), "CUDA graph"),
    Kind("CUPTI_ACTIVITY_KIND_MEMCPY", MEMORY, ("copyKind",), "Memcpy"),
    Kind("CUPTI_ACTIVITY_KIND_MEMSET", MEMORY, (), "Memset"),
)
