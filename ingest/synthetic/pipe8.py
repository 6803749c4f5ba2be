"""The pipelined sample run: four stages, two chunks each, the last stage slow."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ingest.synthetic.pipeline import Pipeline, SlowStage, simulate, write_pipeline
from ingest.times import SECOND_NS

#: Folder of its raw files.
DATA: Final = "pipe8"

#: When its first step begins: a few minutes after the end of pod16.
_BEGUN: Final = datetime(2026, 3, 2, 9, 10, tzinfo=UTC)


def write_pipe8(folder: Path, seed: int) -> None:
    """Write the sample under `pipe8`, and its truth beside that folder."""
    write_pipeline(folder / DATA, simulate(pipe8(seed)), f"{DATA}-demo")


def pipe8(seed: int) -> Pipeline:
    """Return the sample: 8 GPUs, 6 steps of about 0.9 s, from step 100 on."""
    return Pipeline(
        stages=4,
        chunks=2,
        microbatches=8,
        replicas=2,
        steps=6,
        seed=seed,
        sd=0.02,
        faults=(SlowStage(3),),
        first_step=100,
        begun_ns=int(_BEGUN.timestamp()) * SECOND_NS,
    )
