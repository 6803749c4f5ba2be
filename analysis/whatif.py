"""What a run would take with something repaired."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._repairs import Repair
from analysis._replay_causes import STRAGGLES_FROM
from analysis._straggler_day_tables import (
    StragglerDays,
    StragglerDaysRanks,
    StragglerDaysSavings,
    StragglerDaysSpells,
    StragglerDaysSteps,
)
from analysis._straggler_limits import BLOCK_STEPS, GATE_RATIO, MIN_PEERS
from analysis._whatif_doubts import Limits
from analysis._whatif_nightly import answer_all, answer_wishes
from analysis._whatif_runs import STEP_INPUTS
from analysis._whatif_wishes import joint, single
from analysis.allocations import Allocations
from analysis.replays import RELIABLE_UP_TO
from analysis.runs import Runs
from analysis.stragglers import StragglerRanks
from ingest.tables import Operations, PowerSamples, Table
from ingest.tables import _columns as c


class WhatIf(Table):
    """One row per run, road and repair, with what the repair would save."""

    key: ClassVar = ("run_id", "method", "repair")

    run_id = c.identifier("Run that is repaired.")
    repair = c.identifier(
        "What is repaired, as `gpuledger whatif --fix` takes it; of several together,"
        " with plus between them; `all repairs` that are worth it."
    )
    method = c.choice(
        "Road to the answer: a replay of traced operations; the slowest rank of each"
        " step, from a step log; the same from waits in traces; or none.",
        ("replay", "order_statistics", "waits", "none"),
    )
    attempt = c.index(
        "Attempt of the run; null where several were seen.", nullable=True
    )
    scope = c.identifier("Sort of thing that is repaired; joint where it is several.")
    ranks = c.text("Ranks that are repaired, where it is not all.")
    steps = c.tally("Steps that were seen.")
    ranks_held = c.tally("Ranks that wait for each other in a step.")
    actual_ns = c.duration_ns("Length of those steps, as it was.", nullable=True)
    simulated_ns = c.duration_ns("The same by the road's own model.", nullable=True)
    repaired_ns = c.duration_ns("The same with the repair.", nullable=True)
    slowdown_ratio = c.ratio("Simulated over repaired.", nullable=True)
    saved_step_ns = c.quantity(
        "Saving in a mean step; negative where it costs more.",
        "ns",
        minimum=None,
        nullable=True,
    )
    saved_gpu_ns = c.gpu_time_ns(
        "Saving in all steps seen, of all ranks that are held up; null where the model"
        " misses the real steps by half or more.",
        nullable=True,
    )
    saved_low_gpu_ns = c.gpu_time_ns(
        "Lower end of its interval of 95 %, by how steps scatter.", nullable=True
    )
    saved_high_gpu_ns = c.gpu_time_ns("Upper end of that interval.", nullable=True)
    fidelity_ratio = c.ratio(
        "Share by which simulated steps miss the real ones.", nullable=True
    )
    is_joint = c.flag("Whether several things are repaired together.")
    is_bound = c.flag(
        "Whether the saving is an upper bound, scatter and all; `everything` is none."
    )
    is_reliable = c.flag(
        "Whether simulated steps are like the real ones, and peers many."
    )
    is_beyond_noise = c.flag("Whether the saving is more than healthy ranks scatter.")
    doubt = c.text("What speaks against the saving.")
    assumption = c.text("What the saving takes for granted.")
    left_out_count = c.count("Slow things that have no row of their own.")

    @classmethod
    def sql_name(cls) -> str:
        """Name of the table: that of the command that fills it, too."""
        return "whatif"


#: Tables that repairs are answered from.
INPUTS: Final[tuple[type[Table], ...]] = (
    *STEP_INPUTS,
    Operations,
    PowerSamples,
    Allocations,
    Runs,
    StragglerRanks,
    StragglerDays,
    StragglerDaysSpells,
    StragglerDaysSteps,
    StragglerDaysRanks,
    StragglerDaysSavings,
)


def answer_repairs(frames: Frames, limits: Limits | None = None) -> pl.DataFrame:
    """Ask of every run what it would take with the repairs that it suggests.

    Where operations were traced, steps are replayed on their graph (arXiv 2505.05713).
    Where only steps of ranks are known, a step ends when its slowest rank ends: with
    ranks repaired, when the slowest of what is left does. What a repair saves is the
    simulated time without it less that with it, times the ranks that are held up.
    Of a run whose steps are kept by day, only everything typical and what was found
    slow can be asked for, and `all repairs` is all of that.
    Savings do not add: `all repairs` has all of them together that are worth it.

    Args:
        frames: Rows of INPUTS.
        limits: From where on a saving is more than noise.

    Returns:
        Rows of WhatIf.
    """
    return _rows(answer_all(frames, limits or Limits()))


def answer_fixes(
    frames: Frames, run_id: str, repairs: Sequence[Repair], thresholds: Thresholds
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Ask of one run what it would take with some repairs, each alone and together.

    Args:
        frames: Rows of INPUTS.
        run_id: The run.
        repairs: What is repaired.
        thresholds: Thresholds that were set, by name; others have their default.

    Returns:
        Rows of WhatIf, and why a repair cannot be told, by its text.
    """
    wishes = [single(repair) for repair in dict.fromkeys(repairs)]
    if len(wishes) > 1:
        wishes.append(joint([part for wish in wishes for part in wish.parts]))
    set_ones = {
        name: thresholds.get(name, default) for name, default in _THRESHOLDS.items()
    }
    answers = answer_wishes(frames, run_id, wishes, _limits(set_ones))
    return _rows(answers.rows), answers.refused


def _rows(found: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    if not found:
        return WhatIf.create_empty()
    told = pl.DataFrame(found, schema=WhatIf.create_empty().schema)
    return WhatIf.validate(told.sort(WhatIf.key), cast=True)


def _limits(thresholds: Thresholds) -> Limits:
    return Limits(
        reliable_up_to=thresholds["whatif_reliable_up_to"],
        straggles_from=thresholds["whatif_straggles_from"],
        gate_ratio=thresholds["whatif_gate_ratio"],
        min_peers=int(thresholds["whatif_min_peers"]),
        block_steps=int(thresholds["whatif_block_steps"]),
    )


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    return {WhatIf: answer_repairs(frames, _limits(thresholds))}


#: Thresholds that may be set; their defaults are those of stragglers and replays.
_THRESHOLDS: Final[Mapping[str, float]] = {
    "whatif_reliable_up_to": RELIABLE_UP_TO,
    "whatif_straggles_from": STRAGGLES_FROM,
    "whatif_gate_ratio": GATE_RATIO,
    "whatif_min_peers": MIN_PEERS,
    "whatif_block_steps": BLOCK_STEPS,
}

ANALYSIS: Final = Analysis(
    name="whatif",
    version=8,
    describes="What each repair would save, in time and GPU time",
    inputs=INPUTS,
    outputs=(WhatIf,),
    compute=_compute,
    thresholds=_THRESHOLDS,
)
