"""How often to save: what the interval in use costs, and what the best would."""

from typing import Final

from analysis import Frames
from analysis.checkpoint_bursts import CheckpointBursts
from analysis.checkpoint_evidence import CheckpointEvidence
from analysis.checkpoint_plans import CheckpointCurves, CheckpointPlans
from analysis.checkpoint_replays import CheckpointReplays
from reports import (
    _checkpoint_chart,
    _checkpoint_grounds,
    _checkpoint_listing,
    _checkpoint_words,
)
from reports._checkpoint_runs import listing
from reports._checkpoint_shown import shown
from reports._section import Content, Scope, Section

_EMPTY: Final = (
    "Saves are seen in step logs that tell how long a step stood still for one, in logs"
    " of DLRover, torchtitan and Megatron-LM, and in a table of checkpoints; a run card"
    " with [checkpoints] interval_s and stall_s will do. What would be found: the"
    " interval in use, the best one, and what a day costs between them."
)


def build(frames: Frames, scope: Scope) -> Content:
    """Return the finding on intervals between saves, and what it rests on."""
    runs = shown(frames, scope)
    if not runs:
        return Content(
            heading="How often runs save their state is not known: no save was seen.",
            empty=_EMPTY,
        )
    first = runs[0]
    return Content(
        heading=_checkpoint_words.heading(runs, scope),
        paragraphs=_checkpoint_grounds.paragraphs(first, scope),
        charts=_checkpoint_chart.chart(first, frames),
        listings=[
            *listing(runs, scope),
            *_checkpoint_listing.listings(first, frames, scope),
        ],
    )


SECTION: Final = Section(
    "checkpoint_plans",
    "Checkpoints",
    (
        CheckpointEvidence,
        CheckpointPlans,
        CheckpointCurves,
        CheckpointReplays,
        CheckpointBursts,
    ),
    build,
)
