"""The simulated run: its attempts, and the steps of each."""

from collections.abc import Iterator
from dataclasses import dataclass

from ingest.synthetic.scenario import SECOND, Scenario
from ingest.synthetic.workload import RankStep, Workload


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt of the run. Times in ns on the true clock.

    Attributes:
        number: Position among the attempts.
        submit: When the job was submitted or requeued.
        eligible: When it could have started.
        start: When it started; a whole second, as the scheduler counts.
        end: When it ended; a whole second.
        steps: Steps that every rank completed, with all their ranks.
        failed: When its GPU was lost; None where it ended well.
    """

    number: int
    submit: int
    eligible: int
    start: int
    end: int
    steps: dict[int, list[RankStep]]
    failed: int | None


def attempts_of(scenario: Scenario) -> tuple[Attempt, ...]:
    """Simulate a run."""
    workload = Workload(scenario, _speeds(scenario))
    submit = scenario.submitted_ns
    start = submit + scenario.queue_ns
    if scenario.failed_step is None:
        steps = range(scenario.planned_steps)
        return (_attempt(scenario, workload, 0, (submit, submit, start), steps),)
    done = range(scenario.failed_step)
    first = _attempt(scenario, workload, 0, (submit, submit, start), done, fails=True)
    again = range(scenario.resumed_step, scenario.planned_steps)
    requeued = first.end + SECOND
    times = (requeued, requeued + 120 * SECOND, first.end + scenario.requeue_ns)
    return (first, _attempt(scenario, workload, 1, times, again))


def _speeds(scenario: Scenario) -> list[float]:
    """Return the time that each rank needs over the nominal one. [1]"""
    draw = scenario.draws("speeds")
    speeds = [draw.gauss(1, scenario.persistent_sd) for _ in range(scenario.ranks)]
    if scenario.slow_rank is not None:
        speeds[scenario.slow_rank] = scenario.slowdown_ratio
    return speeds


def _attempt(  # noqa: PLR0913 - the facts of one attempt
    scenario: Scenario,
    workload: Workload,
    number: int,
    times: tuple[int, int, int],
    numbers: range,
    *,
    fails: bool = False,
) -> Attempt:
    submit, eligible, start = times
    steps = dict(
        _steps(scenario, workload, start + scenario.startup_ns[number], numbers)
    )
    last = max(step.now for step in steps[numbers[-1]])
    idle = scenario.hang_ns if fails else scenario.teardown_ns
    end = -(-(last + idle) // SECOND) * SECOND
    failed = last + scenario.failure_delay_ns if fails else None
    return Attempt(number, submit, eligible, start, end, steps, failed)


def _steps(
    scenario: Scenario, workload: Workload, start: int, numbers: range
) -> Iterator[tuple[int, list[RankStep]]]:
    """Yield steps back to back; a checkpoint ends for all ranks at once."""
    starts = [start] * scenario.ranks
    for number in numbers:
        steps = workload.step(number, starts)
        if scenario.has_checkpoint(number):
            saved = max(step.now for step in steps) + scenario.checkpoint_ns
            for step in steps:
                step.checkpoint = saved - step.now
                step.now = saved
        starts = [step.now for step in steps]
        yield number, steps
