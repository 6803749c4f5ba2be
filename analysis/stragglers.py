"""Find the GPUs that make the others wait."""

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
    jitter_gpu_ns = c.gpu_time_ns("GPU time that scatter alone cost: the tax of size.")


class StragglerRanks(Table):
    """One row per flagged GPU or group."""

    key: ClassVar = ("run_id", "scope", "scope_id")

    run_id = c.identifier("Run that was slowed.")
    scope = c.choice("What is slow.", ("gpu", "host", "rack", "stage", "dp_rank"))
    scope_id = c.identifier("Which one.")
    slowdown_ratio = c.ratio("Its own work over its peers' median, median over steps.")
    q_value = c.real("Benjamini-Hochberg q-value over all tests of the run.")
    first_step = c.number("First step of the slow spell.")
    last_step = c.number("Last step of the slow spell.")
    steps_late = c.number("Steps in which it was slower than its peers.")
    lost_gpu_ns = c.gpu_time_ns("GPU time that a repair would save.")
    cause = c.identifier("Strongest cause found; unknown where none.")
    evidence = c.text("What speaks for the cause.")


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
    verdict = c.choice(
        "What can be said.",
        ("tested", "no_waits", "too_few_peers", "too_few_steps", "no_steps"),
    )
