"""Every question that is asked of the lake, one file each."""

from typing import Final

from analysis import (
    allocations,
    attempts,
    bandwidth_checks,
    checkpoint_bursts,
    checkpoint_evidence,
    checkpoint_plans,
    checkpoint_replays,
    clock_offsets,
    collective_waits,
    data_feed,
    energy,
    energy_checks,
    energy_runs,
    flow_collisions,
    goodput,
    goodput_days,
    gpus,
    hangs,
    incidents,
    interrupt_rates,
    interruption_gaps,
    interruptions,
    late_ranks,
    latency_anatomy,
    latency_models,
    lemon_nodes,
    loss_phases,
    lost_time,
    overlap,
    overlap_groups,
    pipeline_bubbles,
    plans,
    power_limits,
    power_rollup,
    power_swings,
    rate_changes,
    rate_comparisons,
    rate_projections,
    replays,
    runs,
    section_scores,
    spare_plans,
    step_rollups,
    straggler_days,
    stragglers,
    throttling,
    whatif,
)
from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._rollup import Day, Rollup
from analysis.allocations import Allocations
from analysis.attempts import Attempts, StepPauses
from analysis.bandwidth_checks import BandwidthChecks
from analysis.checkpoint_bursts import CheckpointBursts
from analysis.checkpoint_evidence import CheckpointEvidence
from analysis.checkpoint_plans import CheckpointCurves, CheckpointPlans
from analysis.checkpoint_replays import CheckpointReplays
from analysis.clock_offsets import ClockOffsets
from analysis.collective_waits import CollectiveWaits
from analysis.data_feed import DataFeed, DataFeedViolations
from analysis.data_feed_steps import DataFeedSteps
from analysis.energy import Energy
from analysis.energy_checks import EnergyChecks
from analysis.energy_runs import EnergyRuns
from analysis.fleet_power import FleetPower, FleetReadings
from analysis.flow_collisions import FlowCollisions
from analysis.goodput import Goodput
from analysis.goodput_days import GoodputDays
from analysis.gpus import Gpus
from analysis.hangs import Hangs, HangSuspects, HangWaits
from analysis.hiding_costs import HidingCosts
from analysis.incidents import IncidentEvents, Incidents
from analysis.interrupt_rates import InterruptRates
from analysis.interruption_gaps import InterruptionGapFits, InterruptionGaps
from analysis.interruptions import Interruptions
from analysis.late_ranks import LateRanks, WaitingEdges
from analysis.latency_anatomy import LatencyAnatomy, LatencySizes
from analysis.latency_models import LatencyModels
from analysis.lemon_nodes import LemonNodes
from analysis.loss_phases import LossPhases
from analysis.lost_time import LostTime
from analysis.overlap import Overlap
from analysis.overlap_groups import OverlapGroups
from analysis.pipeline_bubbles import PipelineBubbles
from analysis.plans import Plans
from analysis.power_days import PowerDays, XidChanges
from analysis.power_hours import PowerHours
from analysis.power_limits import PowerLimits
from analysis.power_profiles import PowerProfiles, PowerSteps
from analysis.power_shapes import PowerBands, PowerShapes
from analysis.power_swings import PowerSwings
from analysis.rank_hours import RankHours
from analysis.rate_changes import RateChanges
from analysis.rate_comparisons import RateComparisons
from analysis.rate_projections import RateProjections
from analysis.replays import ReplayCells, Replays, ReplaySteps
from analysis.runs import Runs
from analysis.section_scores import SectionScores
from analysis.spare_plans import SparePlans
from analysis.step_rollups import StepRollups
from analysis.straggler_days import (
    StragglerDays,
    StragglerDaysEvidence,
    StragglerDaysRanks,
    StragglerDaysSavings,
    StragglerDaysSpells,
    StragglerDaysSteps,
)
from analysis.stragglers import (
    StragglerEvidence,
    StragglerRanks,
    StragglerSteps,
    StragglerTests,
)
from analysis.throttling import Throttling
from analysis.whatif import WhatIf
from ingest.tables import Table

#: Tables that analyses fill.
RESULTS: Final[tuple[type[Table], ...]] = (
    PowerHours,
    PowerDays,
    FleetPower,
    FleetReadings,
    XidChanges,
    StepRollups,
    RankHours,
    StragglerDays,
    StragglerDaysSpells,
    StragglerDaysEvidence,
    StragglerDaysSteps,
    StragglerDaysRanks,
    StragglerDaysSavings,
    Runs,
    Attempts,
    StepPauses,
    Gpus,
    Allocations,
    Incidents,
    IncidentEvents,
    Interruptions,
    Overlap,
    OverlapGroups,
    HidingCosts,
    ClockOffsets,
    CollectiveWaits,
    LateRanks,
    Hangs,
    HangSuspects,
    HangWaits,
    WaitingEdges,
    BandwidthChecks,
    LatencyAnatomy,
    LatencySizes,
    LatencyModels,
    Replays,
    ReplayCells,
    ReplaySteps,
    StragglerSteps,
    StragglerRanks,
    StragglerEvidence,
    StragglerTests,
    SectionScores,
    WhatIf,
    InterruptRates,
    RateComparisons,
    RateChanges,
    RateProjections,
    InterruptionGaps,
    InterruptionGapFits,
    LemonNodes,
    SparePlans,
    CheckpointEvidence,
    CheckpointPlans,
    CheckpointCurves,
    CheckpointReplays,
    CheckpointBursts,
    PipelineBubbles,
    LostTime,
    Goodput,
    GoodputDays,
    LossPhases,
    Energy,
    EnergyRuns,
    EnergyChecks,
    PowerSwings,
    PowerBands,
    PowerShapes,
    PowerSteps,
    PowerProfiles,
    PowerLimits,
    Throttling,
    Plans,
    FlowCollisions,
    DataFeedViolations,
    DataFeedSteps,
    DataFeed,
)

#: Analyses in the order they run: each reads the lake and what came before it.
ANALYSES: Final[tuple[Analysis | Rollup, ...]] = (
    step_rollups.ROLLUP,
    attempts.ANALYSIS,
    runs.ANALYSIS,
    gpus.ANALYSIS,
    allocations.ANALYSIS,
    power_rollup.ROLLUP,
    straggler_days.ROLLUP,
    overlap.ANALYSIS,
    overlap_groups.ANALYSIS,
    clock_offsets.ANALYSIS,
    collective_waits.ANALYSIS,
    late_ranks.ANALYSIS,
    hangs.ANALYSIS,
    bandwidth_checks.ANALYSIS,
    latency_anatomy.ANALYSIS,
    latency_models.ANALYSIS,
    replays.ANALYSIS,
    stragglers.ANALYSIS,
    section_scores.ANALYSIS,
    whatif.ANALYSIS,
    incidents.ANALYSIS,
    interruptions.ANALYSIS,
    interrupt_rates.ANALYSIS,
    rate_comparisons.ANALYSIS,
    rate_changes.ANALYSIS,
    rate_projections.ANALYSIS,
    interruption_gaps.ANALYSIS,
    spare_plans.ANALYSIS,
    checkpoint_evidence.ANALYSIS,
    checkpoint_replays.ANALYSIS,
    checkpoint_plans.ANALYSIS,
    checkpoint_bursts.ANALYSIS,
    pipeline_bubbles.ANALYSIS,
    lost_time.ANALYSIS,
    goodput.ANALYSIS,
    goodput_days.ANALYSIS,
    loss_phases.ANALYSIS,
    lemon_nodes.ANALYSIS,
    energy.ANALYSIS,
    energy_runs.ANALYSIS,
    energy_checks.ANALYSIS,
    power_swings.ANALYSIS,
    power_limits.ANALYSIS,
    throttling.ANALYSIS,
    plans.ANALYSIS,
    flow_collisions.ANALYSIS,
    data_feed.ANALYSIS,
)

#: The analyses alone, without what is condensed by day.
QUESTIONS: Final[tuple[Analysis, ...]] = tuple(
    one for one in ANALYSES if isinstance(one, Analysis)
)

__all__ = [
    "ANALYSES",
    "QUESTIONS",
    "RESULTS",
    "Analysis",
    "Day",
    "Frames",
    "Results",
    "Rollup",
    "Thresholds",
]
