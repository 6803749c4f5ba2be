"""Windows of steps, made while those before are worked on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from ingest.synthetic.cluster.steps import StepWindow


def ahead(windows: Iterator[StepWindow]) -> Iterator[StepWindow]:
    """Yield windows in their order; a thread makes the next one meanwhile."""
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(next, windows, None)
        while (window := waiting.result()) is not None:
            waiting = thread.submit(next, windows, None)
            yield window
