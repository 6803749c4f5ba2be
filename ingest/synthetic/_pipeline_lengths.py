"""How long every operation of a synthetic pipeline takes by itself."""

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ingest.synthetic._pipeline_faults import (
    Fault,
    LongSequences,
    Pauses,
    SlowLink,
    SlowStage,
    SlowWorker,
)

if TYPE_CHECKING:
    from ingest.synthetic.pipeline import Pipeline

Times = npt.NDArray[np.int64]
Factors = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths without any waiting. [ns]

    Attributes:
        forward: Axes: stage, chunk, micro-batch, step, replica.
        backward: The same axes.
        sent: Transfers of what forward tasks send on; the same axes.
        returned: Transfers of what backward tasks send back; the same axes.
        gathered: Parameters brought together; axes: stage, step, replica.
        scattered: Gradients spread; the same axes, equal over a stage's replicas.
        optimized: The optimizer; the same axes.
    """

    forward: Times
    backward: Times
    sent: Times
    returned: Times
    gathered: Times
    scattered: Times
    optimized: Times


def draw_lengths(pipeline: "Pipeline") -> Lengths:
    """Draw the lengths; what chance gives does not depend on the faults."""
    tasks = (
        *(pipeline.stages, pipeline.chunks, pipeline.microbatches),
        *(pipeline.steps, pipeline.replicas),
    )
    whole = (pipeline.stages, pipeline.steps, pipeline.replicas)
    group = (pipeline.stages, pipeline.steps, 1)
    forward = pipeline.forward_ns * _scatter(pipeline, "forward", tasks)
    backward = pipeline.backward_ns * _scatter(pipeline, "backward", tasks)
    sent = pipeline.transfer_ns * _scatter(pipeline, "sent", tasks)
    returned = pipeline.transfer_ns * _scatter(pipeline, "returned", tasks)
    for fault in pipeline.faults:
        _compute_slower(pipeline, fault, forward, backward)
        _send_slower(pipeline, fault, sent, returned)
    gathered = pipeline.gather_ns * _scatter(pipeline, "gathered", group)
    scattered = pipeline.scatter_ns * _scatter(pipeline, "scattered", group)
    return Lengths(
        forward=_whole(forward),
        backward=_whole(backward),
        sent=_whole(sent),
        returned=_whole(returned),
        gathered=_whole(np.broadcast_to(gathered, whole)),
        scattered=_whole(np.broadcast_to(scattered, whole)),
        optimized=_whole(
            pipeline.optimizer_ns * _scatter(pipeline, "optimized", whole)
        ),
    )


def _whole(lengths: Factors) -> Times:
    return np.rint(lengths).astype(np.int64)


def _draws(pipeline: "Pipeline", name: str) -> np.random.Generator:
    return np.random.default_rng([pipeline.seed, zlib.crc32(name.encode())])


def _scatter(pipeline: "Pipeline", name: str, shape: tuple[int, ...]) -> Factors:
    """Return factors around one that are never negative. [1]"""
    if not pipeline.sd:
        return np.ones(shape)
    return np.exp(pipeline.sd * _draws(pipeline, name).standard_normal(shape))


def _compute_slower(
    pipeline: "Pipeline", fault: Fault, forward: Factors, backward: Factors
) -> None:
    match fault:
        case SlowWorker(dp_rank, stage, ratio):
            forward[stage, ..., dp_rank] *= ratio
            backward[stage, ..., dp_rank] *= ratio
        case SlowStage(stage, forward_ratio, backward_ratio):
            forward[stage] *= forward_ratio
            backward[stage] *= backward_ratio
        case LongSequences(sd):
            normal = _draws(pipeline, "cost").standard_normal(forward.shape[2:])
            cost = np.exp(sd * normal - sd * sd / 2)
            forward *= cost
            backward *= cost
        case Pauses(chance, pause_ns):
            hit = _draws(pipeline, "pauses").random(forward.shape) < chance
            forward += pause_ns * hit
        case SlowLink():
            pass


def _send_slower(
    pipeline: "Pipeline", fault: Fault, sent: Factors, returned: Factors
) -> None:
    if isinstance(fault, SlowLink):
        sent[fault.stage] *= fault.ratio
        returned[(fault.stage + 1) % pipeline.stages] *= fault.ratio
