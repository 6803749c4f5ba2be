"""A synthetic pipeline in raw files: a run card, and records of NDTimeline."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from ingest.synthetic._pipeline_faults import SlowStage
from ingest.synthetic._pipeline_rows import operations
from ingest.synthetic._pipeline_truth import bubble_of
from ingest.synthetic.raw_text import compact_json, write_lines
from ingest.times import SECOND_NS

if TYPE_CHECKING:
    from ingest.synthetic.pipeline import Pipeline, Simulation

#: What tells one record of a rank from another.
_RECORD: Final = ("rank", "step", "kind", "chunk")

#: What a record tells beside its times.
_PLACE: Final = ("rank", "pp_rank", "dp_rank", "step", "kind", "chunk")

#: Price of the sample's GPUs. [USD/h]
USD_PER_GPU_HOUR: Final = 2.0


def write_pipeline(folder: Path, simulation: "Simulation", run_id: str) -> None:
    """Write a run's card, the records of all ranks, and the truth beside the folder.

    The same simulation gives the same bytes.

    Args:
        folder: Where the raw files go; the truth gets its name, and `-truth.json`.
        simulation: What became of the pipeline.
        run_id: Name of the run.
    """
    write_lines(folder / "run.toml", _card(simulation.pipeline, run_id))
    rows = operations(simulation, run_id=run_id).sort(*_RECORD, "start_ns")
    write_lines(folder / "ndtimeline.jsonl.gz", _records(rows))
    truth = json.dumps(_truth(simulation, run_id), indent=2)
    write_lines(folder.with_name(f"{folder.name}-truth.json"), [truth])


def _records(rows: pl.DataFrame) -> Iterator[str]:
    """Yield a record for each rank, step, kind and chunk."""
    for _, some in rows.group_by(_RECORD, maintain_order=True):
        rank, stage, replica, step, kind, chunk = some.select(_PLACE).row(0)
        last_ns = int((some["start_ns"] + some["duration_ns"]).to_list()[-1])
        names = {"rank": rank, "metric": kind, "iteration": step, "step": step}
        place = {"model_chunk": chunk, "stage": stage, "dp_rank": replica}
        address = {"tp_rank": 0, "ip": f"10.0.1.{rank + 1}", "role": "worker"}
        head = compact_json(names | place | address)[:-1]
        starts = ",".join(_seconds(one) for one in some["start_ns"])
        lengths = ",".join(_seconds(one) for one in some["duration_ns"])
        times = f'"start_ts":[{starts}],"duration":[{lengths}]'
        yield f'{head},"ts":{_seconds(last_ns)},{times}}}'


def _seconds(time_ns: int) -> str:
    """Return seconds that keep every nanosecond."""
    return f"{time_ns // SECOND_NS}.{time_ns % SECOND_NS:09}"


def _card(pipeline: "Pipeline", run_id: str) -> Iterator[str]:
    yield from (f'run_id = "{run_id}"', 'cluster = "pod-b"', 'zone = "UTC"', "")
    yield from ("[hardware]", 'gpu = "H100-SXM"', f"gpus = {pipeline.ranks}")
    yield from ("gpus_per_node = 8", "peak_tflops = 989")
    yield from ("nvlink_gbs = 450", "network_gbs = 50", "", "[layout]")
    yield f"pp = {pipeline.stages}\ndp = {pipeline.replicas}"
    yield f"vpp = {pipeline.chunks}\nmicrobatches = {pipeline.microbatches}"
    yield 'order = ["tp", "cp", "dp", "pp"]'
    yield "\n[training]\nplanned_steps = 1_000\nstep_s = 0.7"
    yield f"\n[price]\nusd_per_gpu_hour = {USD_PER_GPU_HOUR}"


def _truth(simulation: "Simulation", run_id: str) -> dict[str, object]:
    """Return what was put in, and what it costs. Times and GPU time in ns."""
    pipeline = simulation.pipeline
    bubble = bubble_of(simulation)
    stages = {fault for fault in pipeline.faults if isinstance(fault, SlowStage)}
    return {
        "seed": pipeline.seed,
        "run_id": run_id,
        "ranks": pipeline.ranks,
        "steps": pipeline.steps,
        "step_ns": simulation.step_ns.tolist(),
        "expected_bubble_ratio": pipeline.expected_ratio,
        "bubble_ns_by_stage": bubble.whole.sum(axis=(1, 2)).tolist(),
        "compute_ns_by_stage": bubble.computed.sum(axis=(1, 2)).tolist(),
        "slow_stages": sorted(one.stage for one in stages),
        "lost_gpu_ns": int(simulation.lost_ns().sum()) * pipeline.ranks,
    }
