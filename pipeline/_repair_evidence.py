"""Why a lake has no answer to a what-if question, and what would give it one."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from analysis import Frames
from analysis._repairs import Repair
from analysis._repairs_grammar import parse
from analysis.runs import Runs
from analysis.whatif import WhatIf
from ingest.lake import Snapshot
from ingest.tables import Kernels

_NO_EVIDENCE: Final = (
    "neither the waits of its ranks nor a trace of its operations is known; a step log"
    " with waits, or traces of all ranks, tell them"
)

_NO_MARKS: Final = (
    "its traces mark no steps, so that nothing tells where one ends; mark each step"
    " while profiling, in PyTorch with profiler.step()"
)

_NOTHING: Final = (
    "analysed, and nothing in it to repair: no steps of ranks and no traced operations"
    " are known; a step log with waits, or traces of all ranks, tell them"
)

_NOT_YET: Final = "run gpuledger analyze first"


def wanted(texts: Sequence[str]) -> list[Repair]:
    """Return the repairs that are asked for, each once.

    Args:
        texts: Repairs as a user wrote them.

    Raises:
        UsageError: If a text means none.
    """
    return list(dict.fromkeys(parse(text) for text in texts))


def why_no_answer(frames: Frames) -> str:
    """Return why a run has no answer by any road.

    Args:
        frames: Tables that repairs are answered from, of the run.
    """
    marked = frames[Kernels].select(
        rows=pl.len(), steps=Kernels.step.col.is_not_null().any()
    )
    rows, has_steps = marked.collect(engine="streaming").row(0)
    return _NO_MARKS if rows and not has_steps else _NO_EVIDENCE


def why_none_weighed(lake: Snapshot) -> str:
    """Return why no repair of a lake was weighed: not yet, or nothing to weigh.

    Args:
        lake: The lake.
    """
    return _NOTHING if lake.parts(WhatIf) else f"no repair was weighed; {_NOT_YET}"


def why_no_run(lake: Snapshot) -> str:
    """Return why a lake has no run: not analysed yet, or none in it.

    Args:
        lake: The lake.
    """
    return _NOTHING if lake.parts(Runs) else f"no run was analysed yet; {_NOT_YET}"
