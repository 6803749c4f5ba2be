"""Tables of the search for stragglers."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class StragglerSteps(Table):
    """One row per run and step with what its slowest rank cost."""

    key: ClassVar = ("run_id", "attempt", "step")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    step = c.number("Step.")
    slowest_rank = c.index("Rank with the most own work.")
    slowest_work_ns = c.duration_ns("Own work of that rank.")
    typical_work_ns = c.duration_ns("Median own work.")
    ranks_seen = c.number("Ranks whose own work is known.")
    lost_gpu_ns = c.gpu_time_ns("GPU time that flagged ranks cost the others.")
    jitter_gpu_ns = c.gpu_time_ns(
        "GPU time that the slowest rank cost beyond flagged ones: scatter, the tax of"
        " size, where the run's verdict is tested; elsewhere slow ranks are in it, too."
    )


class StragglerRanks(Table):
    """One row per spell of a flagged GPU or group, or for its whole run."""

    key: ClassVar = ("run_id", "scope", "scope_id", "attempt", "first_step")

    run_id = c.identifier("Run that was slowed.")
    scope = c.choice("What is slow.", ("gpu", "host", "rack", "stage", "dp_rank"))
    scope_id = c.identifier(
        "Which one: UUID of the GPU or its rank, host, rack, stage or replica."
    )
    rank = c.index("Global rank, where one rank is slow.", nullable=True)
    host = c.identifier("Node of the slow GPU, or the slow node.", nullable=True)
    slowdown_ratio = c.ratio(
        "Its own work over its peers' median: median of the spell's steps. What is slow"
        " for the whole run has one row with the median of it all: a spell in which it"
        " was slower still is not told apart. Of a run that is kept by day, the mean"
        " of its days' medians."
    )
    q_value = c.real(
        "Benjamini-Hochberg q-value over all tests of the run; of a part of the run"
        " Bonferroni's, over all parts. Of a host or rack with too few peers, the"
        " largest of its GPUs'. Of a run that is kept by day, over all tests of a day;"
        " the largest of the spell's days."
    )
    attempt = c.index("Attempt of the run in which the slow spell began.")
    first_step = c.number("First step of the slow spell, or of the run.")
    last_step = c.number("Last step of the slow spell, or of the run.")
    steps_late = c.number("Steps of the spell in which it was slower than is normal.")
    lost_gpu_ns = c.gpu_time_ns("GPU time that a repair would save.")
    cause = c.identifier("Strongest cause found; unknown where none.")
    evidence = c.text("What speaks for the cause, and for naming a host or rack.")


class StragglerEvidence(Table):
    """One row per spell and rung of the ladder of causes: all that was looked at."""

    key: ClassVar = (*StragglerRanks.key, "rung")

    run_id = c.identifier("Run that was slowed.")
    scope = c.choice("What is slow.", ("gpu", "host", "rack", "stage", "dp_rank"))
    scope_id = c.identifier("Which one, as in straggler_ranks.")
    attempt = c.index("Attempt of the run in which the slow spell began.")
    first_step = c.number("First step of the slow spell, or of the run.")
    rung = c.index("Rung of the ladder, from zero, the strongest evidence first.")
    cause = c.identifier(
        "Cause that the rung is about; `victim` clears: it looks like what waits."
    )
    supports = c.flag(
        "Whether the evidence speaks for it; null where nothing tells.", nullable=True
    )
    evidence = c.text("What was found, or what is missing.")
    table_name = c.identifier("Table that was read.")
    rows_count = c.count("Rows of that table in the spell, of what is slow.")
    from_ns = c.time_ns(
        "From when it was looked at. What lies between attempts is left out.",
        nullable=True,
    )
    to_ns = c.time_ns("Until when it was looked at.", nullable=True)


class StragglerTests(Table):
    """One row per run with what the straggler test could have seen."""

    key: ClassVar = ("run_id",)

    run_id = c.identifier("Run that was tested.")
    ranks_tested = c.number("Ranks with at least four peers and enough steps.")
    ranks_untested = c.number("Ranks that could not be tested.")
    steps_tested = c.number("Steps whose waits are known.")
    smallest_visible_ratio = c.ratio(
        "Smallest slowdown that the gate would have let through.", nullable=True
    )
    shortest_spell_count = c.count(
        "Steps of the shortest spell that would be seen alone; of a run kept by day,"
        " on one day, or with ten at least on each of two.",
        nullable=True,
    )
    source = c.choice(
        "What tells own work from waiting.",
        ("step_timings", "traces", "operations", "collectives", "none"),
    )
    cannot_tell = c.text("What that source cannot tell.")
    verdict = c.choice(
        "What can be said.",
        (
            "tested",
            "no_waits",
            "too_few_peers",
            "too_few_steps",
            "no_steps",
            "unlike_traces",
        ),
    )
