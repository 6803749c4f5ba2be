"""Writes a synthetic run in the raw formats, and the truth about it beside them."""

import json
from pathlib import Path
from typing import Final

from ingest.synthetic.board import Board
from ingest.synthetic.exporter import scrape_lines
from ingest.synthetic.feed_sample import feed_lines
from ingest.synthetic.fleet import Gpu, fleet_of, host_name
from ingest.synthetic.kernel_log import kernel_lines
from ingest.synthetic.kineto import trace_lines
from ingest.synthetic.power import smi_lines
from ingest.synthetic.raw_text import write_lines
from ingest.synthetic.run import Attempt, attempts_of
from ingest.synthetic.run_card import card_lines, host_lines
from ingest.synthetic.scenario import SECOND, Scenario
from ingest.synthetic.slurm import sacct_lines
from ingest.synthetic.step_log import step_lines
from ingest.synthetic.truth import truth_of

#: Folder of the raw files under the one that is given.
DATA: Final = "pod16"

#: File with the truth; beside the folder, so that it is never ingested.
TRUTH: Final = "truth.json"

#: When the exporter is scraped: while the first attempt trains. [ns]
_SCRAPED_AFTER_NS: Final = 20 * SECOND


def write_sample(folder: Path, seed: int) -> None:
    """Write the sample run of a seed: raw files under `pod16`, and truth.json."""
    write_scenario(folder, Scenario(seed=seed))


def write_scenario(folder: Path, scenario: Scenario) -> None:
    """Write a run: raw files under `pod16`, and truth.json beside that folder.

    The same scenario gives the same bytes.
    """
    gpus = fleet_of(scenario)
    attempts = attempts_of(scenario)
    data = folder / DATA
    write_lines(data / "run.toml", card_lines(scenario))
    write_lines(data / "hosts.csv", host_lines(gpus))
    write_lines(data / "slurm" / "sacct.txt", sacct_lines(scenario, attempts))
    write_lines(data / "data" / "feed.jsonl.gz", feed_lines(scenario))
    for node in range(scenario.nodes):
        _write_node(data, scenario, attempts, gpus, node)
    _write_traces(data, scenario, attempts[0], gpus)
    truth = truth_of(scenario, attempts, gpus)
    write_lines(folder / TRUTH, [json.dumps(truth, indent=2)])


def _write_node(
    data: Path,
    scenario: Scenario,
    attempts: tuple[Attempt, ...],
    gpus: tuple[Gpu, ...],
    node: int,
) -> None:
    """Write what one node records."""
    host = host_name(node)
    first = node * scenario.gpus_per_node
    held = gpus[first : first + scenario.gpus_per_node]
    log = kernel_lines(scenario, attempts, gpus, node)
    write_lines(data / "logs" / f"{host}.kern.log", log)
    boards = [Board(scenario, gpu, attempts) for gpu in held]
    power = smi_lines(scenario, attempts, boards)
    write_lines(data / "power" / f"{host}.smi.csv.gz", power)
    for attempt in attempts:
        name = f"attempt-{attempt.number}-{host}.jsonl.gz"
        write_lines(data / "steps" / name, step_lines(scenario, attempt, node))
    if node == 0:
        fresh = [Board(scenario, gpu, attempts) for gpu in held]
        scrape = scrape_lines(fresh, attempts[0].start + _SCRAPED_AFTER_NS)
        write_lines(data / "power" / f"{host}.prom", scrape)


def _write_traces(
    data: Path, scenario: Scenario, attempt: Attempt, gpus: tuple[Gpu, ...]
) -> None:
    """Write a trace for every rank, of the steps that were traced."""
    for gpu in gpus:
        steps = [(n, attempt.steps[n][gpu.rank]) for n in scenario.traced_steps]
        name = f"rank-{gpu.rank:02}.pt.trace.json.gz"
        write_lines(data / "traces" / name, trace_lines(scenario, gpu, steps))
