"""Pages that are sent on: charts, words and dollars."""

from typing import Final

from ingest.tables import Table
from reports import (
    checkpoint_plans,
    collective_waits,
    cost,
    data_feed,
    data_quality,
    energy,
    first_steps,
    goodput,
    hangs,
    interrupt_rates,
    interruptions,
    latency_anatomy,
    lemon_nodes,
    lost_time,
    method,
    overlap,
    pipeline_bubbles,
    plan,
    power_swings,
    replays,
    stragglers,
    unknown,
    what_changed,
)
from reports._section import Section

#: Sections in the order of the page.
SECTIONS: Final[tuple[Section, ...]] = (
    cost.SECTION,
    lost_time.SECTION,
    first_steps.SECTION,
    what_changed.SECTION,
    stragglers.SECTION,
    replays.SECTION,
    overlap.SECTION,
    pipeline_bubbles.SECTION,
    collective_waits.SECTION,
    latency_anatomy.SECTION,
    hangs.SECTION,
    interruptions.SECTION,
    interrupt_rates.SECTION,
    lemon_nodes.SECTION,
    goodput.SECTION,
    checkpoint_plans.SECTION,
    energy.SECTION,
    power_swings.SECTION,
    data_feed.SECTION,
    plan.SECTION,
    unknown.SECTION,
    data_quality.SECTION,
    method.SECTION,
)

#: Every table that a section reads.
INPUTS: Final[tuple[type[Table], ...]] = tuple(
    dict.fromkeys(table for section in SECTIONS for table in section.inputs)
)

__all__ = ["INPUTS", "SECTIONS", "Section", "Table"]
