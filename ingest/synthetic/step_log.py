"""Step logs of the training loop: JSON lines, one for each rank and step."""

from collections.abc import Iterator

from ingest.synthetic.raw_text import compact_json
from ingest.synthetic.run import Attempt
from ingest.synthetic.scenario import Scenario


def step_lines(scenario: Scenario, attempt: Attempt, node: int) -> Iterator[str]:
    """Yield the lines that the ranks of one node wrote in one attempt."""
    first = node * scenario.gpus_per_node
    tokens = scenario.tokens_per_step // scenario.ranks
    for number, steps in attempt.steps.items():
        for step in steps[first : first + scenario.gpus_per_node]:
            yield compact_json(
                {
                    "run_id": scenario.run_id,
                    "attempt": attempt.number,
                    "step": number,
                    "rank": step.rank,
                    "start_ns": step.start + scenario.offset_ns(step.rank),
                    "duration_ns": step.duration,
                    "compute_ns": step.compute,
                    "communication_ns": step.communication,
                    "wait_ns": step.wait,
                    "data_ns": step.data,
                    "checkpoint_ns": step.checkpoint,
                    "wait_scope": "all",
                    "clock": "host",
                    "scope": "rank",
                    "tokens": tokens,
                }
            )
