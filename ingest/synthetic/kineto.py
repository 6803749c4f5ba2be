"""PyTorch profiler traces (Kineto JSON) of a few steps, one file per rank."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ingest.synthetic.fleet import Gpu
from ingest.synthetic.kernels import (
    ALL_REDUCE,
    COMPUTE_STREAM,
    DESCRIPTIONS,
    KERNELS,
    STREAMS,
    collective_args,
    groups_of,
)
from ingest.synthetic.raw_text import compact_json, micros
from ingest.synthetic.scenario import Scenario
from ingest.synthetic.workload import Operation, RankStep

#: Kineto counts from the last multiple of this. [ns]
BASE_NS: Final = 7_889_238 * 10**9

#: Time between two kernels on a stream. [ns]
GAP_NS: Final = 2_500

#: Time that a launch takes on the host, and from there to the GPU. [ns]
LAUNCH_NS: Final = 4_000
DELAY_NS: Final = 6_000


def trace_lines(
    scenario: Scenario, gpu: Gpu, steps: Sequence[tuple[int, RankStep]]
) -> Iterator[str]:
    """Yield the lines of one rank's trace."""
    first_ns = steps[0][1].start
    base_ns = first_ns - first_ns % BASE_NS
    head = _head(scenario, gpu) | {"baseTimeNanoseconds": base_ns}
    yield compact_json(head)[:-1] + ',"traceEvents":['
    writer = _Events(scenario, gpu, scenario.offset_ns(gpu.rank) - base_ns)
    for number, step in steps:
        yield from (f"{event}," for event in writer.step(number, step))
    yield writer.name_process()
    yield "]}"


def _head(scenario: Scenario, gpu: Gpu) -> dict[str, Any]:
    """Return what a trace says of its rank before the events."""
    configs = [
        {
            "pg_name": name,
            "pg_desc": DESCRIPTIONS[kind],
            "backend_config": "cuda:nccl",
            "pg_size": len(ranks),
            "ranks": list(ranks),
        }
        for kind, (name, ranks) in groups_of(scenario, gpu.rank).items()
    ]
    device = {"id": gpu.local_rank, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}
    return {
        "schemaVersion": 1,
        "deviceProperties": [device],
        "distributedInfo": {
            "backend": "nccl",
            "rank": gpu.rank,
            "world_size": scenario.ranks,
            "pg_count": len(configs),
            "pg_config": configs,
            "nccl_version": "2.27.3",
        },
        "displayTimeUnit": "ms",
    }


class _Events:
    """Writes the events of one rank in the order in which the host launches them."""

    def __init__(self, scenario: Scenario, gpu: Gpu, shift_ns: int) -> None:
        self._scenario = scenario
        self._gpu = gpu
        self._shift = shift_ns
        self._correlation = 0
        self._pid = 4_000 + gpu.local_rank

    def step(self, number: int, step: RankStep) -> Iterator[str]:
        """Yield the events of a step: annotation, launches, work, synchronization."""
        name = f"ProfilerStep#{number}"
        whole = Operation("forward", step.start, step.now)
        yield self._event("user_annotation", name, whole, self._host, {})
        launched = step.start + step.data
        operations = sorted(step.operations, key=lambda done: done.start)
        for operation in operations:
            for event, args, kernel in self._work(number, operation):
                self._correlation += 1
                launched = min(launched + LAUNCH_NS, kernel.start - DELAY_NS)
                yield self._launch(launched)
                args["correlation"] = self._correlation
                stream = args["stream"]
                yield self._event(
                    event[0], event[1], kernel, (self._device, stream), args
                )
        busy = Operation("forward", operations[0].start, operations[-1].end)
        track = (self._device, COMPUTE_STREAM)
        yield self._event("gpu_user_annotation", name, busy, track, {})
        last = Operation("forward", operations[-1].end - GAP_NS, operations[-1].end)
        wait = {"stream": COMPUTE_STREAM, "device": self._device}
        yield self._event("cuda_sync", "Stream Sync", last, track, wait)

    def name_process(self) -> str:
        """Return the event that names the process."""
        args = {"name": f"python (rank {self._gpu.rank})"}
        event = {"name": "process_name", "ph": "M", "pid": self._pid, "tid": 0}
        return compact_json({**event, "args": args})

    @property
    def _device(self) -> int:
        return self._gpu.local_rank

    @property
    def _host(self) -> tuple[int, int]:
        return (self._pid, self._pid)

    def _work(
        self, number: int, operation: Operation
    ) -> Iterator[tuple[tuple[str, str], dict[str, Any], Operation]]:
        """Yield category and name, arguments and time of an operation's kernels."""
        kind = operation.kind
        stream = STREAMS.get(kind, COMPUTE_STREAM)
        args: dict[str, Any] = {"device": self._device, "context": 1, "stream": stream}
        if kind in {"tp", "dp", "world"}:
            rank = self._gpu.rank
            args |= collective_args(self._scenario, rank, number, operation)
            yield ("kernel", ALL_REDUCE), args, operation
            return
        category = "gpu_memcpy" if kind == "copy" else "kernel"
        at = operation.start
        for name, share in KERNELS[kind]:
            end = at + int((operation.end - operation.start) * share)
            yield (category, name), dict(args), Operation(kind, at, end - GAP_NS)
            at = end

    def _launch(self, at: int) -> str:
        call = Operation("forward", at, at + LAUNCH_NS - 500)
        args = {"cbid": 211, "correlation": self._correlation}
        return self._event("cuda_runtime", "cudaLaunchKernel", call, self._host, args)

    def _event(
        self,
        category: str,
        name: str,
        work: Operation,
        track: tuple[int, int],
        args: dict[str, Any],
    ) -> str:
        """Return an event; its numbers keep every nanosecond."""
        pid, tid = track
        start, length = micros(work.start + self._shift), micros(work.end - work.start)
        names = compact_json({"ph": "X", "cat": category, "name": name})[:-1]
        where = f'"pid":{pid},"tid":{tid},"ts":{start},"dur":{length}'
        return f'{names},{where},"args":{compact_json(args)}}}'
