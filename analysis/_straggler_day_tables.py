"""Tables of what is kept of a day of steps, for stragglers, scores and repairs."""

from typing import ClassVar, Final

from analysis._straggler_day_edges import EDGES
from ingest.tables import Table
from ingest.tables import _columns as c

_SCOPES: Final = ("gpu", "host", "rack", "stage", "dp_rank")


class StragglerDays(Table):
    """One row per run and day with what the straggler test could have seen on it."""

    key: ClassVar = ("run_id", "day")

    run_id = c.identifier("Run that was tested.")
    day = c.identifier("Day of its steps, in UTC.")
    first_attempt = c.index("Attempt of the first step of the day.", nullable=True)
    first_step = c.number("First step of the day whose waits are known.", nullable=True)
    last_attempt = c.index("Attempt of the last step of the day.", nullable=True)
    last_step = c.number("Last step of the day whose waits are known.", nullable=True)
    ranks_seen = c.tally("Ranks that told of their steps.")
    ranks_compared = c.tally("Ranks with enough peers.")
    ranks_tested = c.tally("Ranks with enough peers and enough steps.")
    steps_tested = c.tally("Steps whose waits are known.")
    things_tested = c.tally(
        "GPUs, hosts, racks, replicas and stages that were tested together."
    )
    smallest_visible_ratio = c.ratio(
        "Smallest slowdown of the whole day that would have been let through.",
        nullable=True,
    )
    shortest_spell_count = c.count(
        "Steps of the shortest spell that would be seen by itself.", nullable=True
    )
    sees_replicas = c.flag("Whether the waits told are of data parallelism alone.")


class StragglerDaysSpells(Table):
    """One row per spell of a slow thing on a day, or for the whole day."""

    key: ClassVar = ("run_id", "day", "scope", "scope_id", "attempt", "first_step")

    run_id = c.identifier("Run that was slowed.")
    day = c.identifier("Day of the spell, in UTC.")
    scope = c.choice("What is slow.", _SCOPES)
    scope_id = c.identifier("Which one, as in straggler_ranks.")
    rank = c.index("Global rank, where one rank is slow.", nullable=True)
    host = c.identifier("Node of the slow GPU, or the slow node.", nullable=True)
    slowdown_ratio = c.ratio("Median of its work over its peers' in the spell.")
    q_value = c.real("Of the test that told, among all of the day.")
    attempt = c.index("Attempt in which the spell began on this day.")
    first_step = c.number("First step of the spell on this day.")
    last_attempt = c.index("Attempt of its last step on this day.")
    last_step = c.number("Last step of the spell on this day.")
    is_from_before = c.flag("Whether it was slow from the first blocks of the day.")
    is_going_on = c.flag("Whether it was slow until the last blocks of the day.")
    steps_late = c.number("Steps of the spell in which it was slower than is normal.")
    steps_seen = c.tally("Steps of the spell.")
    lost_gpu_ns = c.gpu_time_ns("GPU time that a repair would save.")
    parts_slow = c.tally(
        "GPUs of it that were all found slow, where they tell of it.", nullable=True
    )
    edge = c.choice(
        "Edge of the day that a spell touches which is too short to be told by this day"
        " alone: it counts if it goes on beyond.",
        EDGES,
    )


class StragglerDaysEvidence(Table):
    """One row per spell of a day and rung of the ladder of causes."""

    key: ClassVar = (*StragglerDaysSpells.key, "rung")

    run_id = c.identifier("Run that was slowed.")
    day = c.identifier("Day of the spell, in UTC.")
    scope = c.choice("What is slow.", _SCOPES)
    scope_id = c.identifier("Which one, as in straggler_ranks.")
    attempt = c.index("Attempt in which the spell began on this day.")
    first_step = c.number("First step of the spell on this day.")
    rung = c.index("Rung of the ladder, from zero, the strongest evidence first.")
    cause = c.identifier("Cause that the rung is about.")
    supports = c.flag("Whether the evidence speaks for it.", nullable=True)
    evidence = c.text("What was found, or what is missing.")
    table_name = c.identifier("Table that was read.")
    rows_count = c.count("Rows of that table in the spell, of what is slow.")
    from_ns = c.time_ns("From when it was looked at.", nullable=True)
    to_ns = c.time_ns("Until when it was looked at.", nullable=True)


class StragglerDaysSteps(Table):
    """One row per run, day and step with what its slowest rank cost."""

    key: ClassVar = ("run_id", "day", "attempt", "step")

    run_id = c.identifier("Run that the row belongs to.")
    day = c.identifier("Day of the step, in UTC.")
    attempt = c.index("Attempt of the run, counted from zero.")
    step = c.number("Step.")
    slowest_rank = c.index("Rank with the most own work.")
    slowest_work_ns = c.duration_ns("Own work of that rank.")
    typical_work_ns = c.duration_ns("Median own work.")
    even_work_ns = c.duration_ns("Mean of the median own work of each stage.")
    longest_ns = c.duration_ns("Length of the step, of the rank that took longest.")
    ranks_seen = c.number("Ranks whose own work is known.")
    lost_gpu_ns = c.gpu_time_ns("GPU time that flagged ranks cost the others.")
    jitter_gpu_ns = c.gpu_time_ns("GPU time that the slowest cost beyond flagged ones.")
    edge = c.choice("Edge of the day at which short spells have the step.", EDGES)
    edge_lost_gpu_ns = c.gpu_time_ns(
        "What flagged ranks cost if those spells count, too.", nullable=True
    )
    edge_jitter_gpu_ns = c.gpu_time_ns(
        "What the slowest cost beyond all of them.", nullable=True
    )


class StragglerDaysRanks(Table):
    """One row per run, day and rank: how slow it was on the whole, and its reports."""

    key: ClassVar = ("run_id", "day", "attempt", "rank")

    run_id = c.identifier("Run that the row belongs to.")
    day = c.identifier("Day of its steps, in UTC.")
    attempt = c.index("Attempt of the run, counted from zero.")
    rank = c.index("Global rank.")
    slowdown_ratio = c.ratio(
        "Median over blocks of its work over its peers'; null: too few peers.",
        nullable=True,
    )
    blocks_count = c.count("Blocks that were compared.")
    is_tested = c.flag("Whether it had peers and blocks enough.")
    median_ns = c.duration_ns("Median of its reports' median own work.", nullable=True)
    least_ns = c.duration_ns("Least median own work of a report.", nullable=True)
    most_ns = c.duration_ns("Greatest median own work of a report.", nullable=True)
    last_ns = c.duration_ns("Median own work of its last report.", nullable=True)
    lowest_score = c.real("Least of best so far over a report's median.", nullable=True)
    reports_count = c.count("Reports with own work.")


class StragglerDaysSavings(Table):
    """One row per slow thing, day and stretch of steps with what a repair saves."""

    key: ClassVar = (
        *("run_id", "day", "scope", "scope_id", "attempt", "stretch", "edge"),
    )

    run_id = c.identifier("Run that was slowed.")
    day = c.identifier("Day of the steps, in UTC.")
    scope = c.choice("What is slow.", _SCOPES)
    scope_id = c.identifier("Which one, as in straggler_ranks.")
    attempt = c.index("Attempt of the run, counted from zero.")
    stretch = c.number("Number of the stretch of 240 steps.")
    edge = c.choice("Edge of the day that its spells touch, too short alone.", EDGES)
    steps_seen = c.tally("Steps of it in which the thing was in a spell.")
    saved_ns = c.duration_ns("What a repair would save of these steps.")
    saved_gpu_ns = c.gpu_time_ns("The same, of all ranks that are held up.")
    saved_squares = c.real("Squares of each step's saving, summed up.")
    blocks_count = c.count("Blocks of steps in which a repair saves something.")
    blocks_steps = c.tally("Steps of those blocks.")
    blocks_squares = c.real("Squares of each block's saving, summed up.")
