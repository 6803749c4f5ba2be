"""The processors and kernels of one process, as rocprofv3 tells them."""

from collections.abc import Sequence
from typing import Final

from ingest.sources._rocprof.events import (
    NO_HANDLE,
    Agent,
    Correlation,
    Handle,
    Symbol,
    whole,
)

_GPU: Final = 2

#: Correlations of one process: fewer than a process can count to.
_CORRELATIONS: Final = 1 << 40

#: Processes of one file that are told apart.
_PROCESSES: Final = 1 << 20

_UNNAMED: Final = "unnamed kernel"


class Process:
    """One process of a file.

    Attributes:
        number: Its place among the processes of the file.
        devices: Number of each GPU, by its handle.
    """

    def __init__(self, number: int) -> None:
        """Begin with no processor and no kernel."""
        self.number = number % _PROCESSES
        self.devices: dict[int, int] = {}
        self._agents: dict[int, Agent] = {}
        self._names: dict[int, str] = {}

    def add_agents(self, agents: Sequence[Agent]) -> None:
        """Add processors; a GPU that has no number is counted."""
        for agent in agents:
            handle = (agent.id or NO_HANDLE).handle
            if handle is None or handle in self._agents:
                continue
            self._agents[handle] = agent
            if agent.type == _GPU:
                told = agent.logical_node_type_id
                self.devices[handle] = len(self.devices) if told is None else told

    def add_symbols(self, symbols: Sequence[Symbol]) -> None:
        """Add kernels."""
        for one in symbols:
            names = (
                one.formatted_kernel_name,
                one.demangled_kernel_name,
                one.kernel_name,
            )
            if one.kernel_id is not None:
                self._names[one.kernel_id] = next(filter(None, names), _UNNAMED)

    def kernel(self, kernel_id: int | None) -> str:
        """Return the name of a kernel."""
        return _UNNAMED if kernel_id is None else self._names.get(kernel_id, _UNNAMED)

    def device(self, agent: Handle) -> int | None:
        """Return the number of a GPU, null for what is none."""
        if agent.handle is None:
            return None
        return whole(self.devices.get(agent.handle))

    def copy(self, source: Handle, target: Handle) -> str:
        """Return what a copy is called, in the words of PyTorch's profiler."""
        return f"Memcpy {self._side(source)}to{self._side(target)}"

    def _side(self, agent: Handle) -> str:
        return "H" if self.device(agent) is None else "D"

    def correlation(self, told: Correlation) -> int | None:
        """Return a correlation as one that no other process has."""
        number = told.internal
        if number is None or not 0 < number < _CORRELATIONS:
            return None
        return self.number * _CORRELATIONS + number
