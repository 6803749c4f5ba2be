"""The feed of a simulated run: what its loader gave, and the batch it gave again."""

from collections.abc import Iterator
from typing import Any, Final

from ingest.synthetic.data_feed import Fault, Feed, rows
from ingest.synthetic.raw_text import compact_json
from ingest.synthetic.scenario import Scenario

#: Name of the data set, and its size; one pass is longer than the run. [samples]
DATASET: Final = "web-en-2025"
_SAMPLES: Final = 4_000_000


def feed_of(scenario: Scenario) -> Feed:
    """Return the feed of a run: after a failure it begins one step too early."""
    samples = scenario.tokens_per_step // scenario.sequence_length
    fails = scenario.failed_step is not None
    return Feed(
        seed=scenario.seed,
        run_id=scenario.run_id,
        replicas=scenario.dp,
        tp=scenario.tp,
        steps=scenario.planned_steps,
        batch=max(samples // scenario.dp, 1),
        datasets=((DATASET, _SAMPLES),),
        failed_step=scenario.failed_step,
        resumed_step=scenario.resumed_step,
        faults=(Fault("restart_repeats"),) if fails else (),
    )


def feed_lines(scenario: Scenario) -> Iterator[str]:
    """Yield the lines of the loader's log. The layout tells the replica of a rank."""
    for row in rows(feed_of(scenario)):
        yield compact_json({k: v for k, v in row.items() if k != "dp_rank"})


def feed_truth(scenario: Scenario) -> dict[str, Any] | None:
    """Return what is wrong with the feed; None where nothing is."""
    feed = feed_of(scenario)
    if not feed.faults:
        return None
    per_step = feed.replicas * feed.batch
    first = (scenario.resumed_step - 1) * per_step
    return {
        "kind": feed.faults[0].kind,
        "attempt": 1,
        "step": scenario.resumed_step,
        "other_step": scenario.resumed_step - 1,
        "dataset": DATASET,
        "ranks": list(range(scenario.ranks)),
        "sample_from": first,
        "sample_to": first + per_step,
    }
