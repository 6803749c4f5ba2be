"""All raw files of a generated cluster, as its tools would leave them."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ingest.synthetic.cluster._ahead import ahead
from ingest.synthetic.cluster._days import days_of
from ingest.synthetic.cluster._power_files import PowerFiles
from ingest.synthetic.cluster._power_meters import Counters
from ingest.synthetic.cluster.accounts import Accounts, book_steps
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.power import INTERVAL_NS
from ingest.synthetic.cluster.steps import StepWindow, step_windows
from ingest.synthetic.cluster.write_card import write_card
from ingest.synthetic.cluster.write_checkpoints import CheckpointLog
from ingest.synthetic.cluster.write_logs import write_logs
from ingest.synthetic.cluster.write_slurm import write_slurm
from ingest.synthetic.cluster.write_steps import Kind, StepLogs
from ingest.synthetic.cluster.write_traces import (
    TraceTemplate,
    made_template,
    places_of,
    write_traces,
)


@dataclass(frozen=True, slots=True)
class RawOptions:
    """What is written.

    Attributes:
        steps: Kind of the step logs.
        power: Whether power is recorded: as text where steps are, else as Parquet.
        power_interval_ns: Time between two samples of a GPU. [ns]
        traces: Ranks that have a trace, spread over the run. [1]
        trace: A real trace that those of all ranks are made of; one is made without.
        trace_bytes: What each is to have before it is packed. [B]
        rows_from_ns: From when on steps and power are written; None: from the start.
            Checkpoints and accounts are of all the time. [ns]
    """

    steps: Kind = "jsonl"
    power: bool = True
    power_interval_ns: int = INTERVAL_NS
    traces: int = 0
    trace: Path | None = None
    trace_bytes: int = 20_000_000
    rows_from_ns: int | None = None


@dataclass(slots=True)
class Written:
    """What was written: rows, whose GPU time the steps are, and counters. [1, GPU ns]

    Of energy, these show before each day what its first samples count on from, by its
    start. [mJ]
    """

    steps: int = 0
    power: int = 0
    checkpoints: int = 0
    log_lines: int = 0
    traces: int = 0
    booked: list[Accounts] = field(default_factory=list, repr=False)
    counters: dict[int, Counters] = field(default_factory=dict, repr=False)


def write_raw(
    folder: Path,
    cluster: Cluster,
    span_ns: tuple[int, int],
    options: RawOptions,
    told: Callable[[int], None] = lambda _: None,
) -> Written:
    """Write the raw files of a time of a cluster, window by window.

    Args:
        folder: Where they go.
        cluster: The cluster.
        span_ns: From when to when; the end is not included. [ns]
        options: What is written.
        told: Told of each window how many steps of ranks were made. [1]

    Raises:
        OSError: If they cannot be written, or the trace cannot be read.
        NoTraceError: If the trace is none.
    """
    write_card(folder, cluster)
    write_slurm(folder / "slurm", cluster, span_ns[1])
    written = Written(log_lines=write_logs(folder / "logs", cluster, span_ns))
    since = span_ns[0] if options.rows_from_ns is None else options.rows_from_ns
    days = list(days_of(*span_ns, since))
    with tempfile.TemporaryDirectory(dir=folder, prefix=".power-") as spool:
        files = _Files(folder, cluster, options, written)
        if options.power:
            files.power = PowerFiles(
                folder / "power", Path(spool), cluster, days, options.power_interval_ns
            )
        for number, day in enumerate(days):
            for rows in files.write(number, day, is_old=day[0] < since):
                told(rows)
    written.checkpoints = _write_saves(folder, cluster, files.saves, options)
    if options.traces and files.first is not None:
        written.traces = _write_traces(folder / "traces", cluster, files.first, options)
    if files.power is not None:
        starts = [begin for begin, _ in days]
        written.counters = dict(zip(starts, files.power.counters(), strict=True))
    return written


@dataclass(slots=True)
class _Files:
    """Writes steps and power day by day, and notes checkpoints and accounts.

    Attributes:
        folder: Where files go.
        cluster: The cluster.
        options: What is written.
        written: What was.
        power: Writes power, where it is recorded.
        saves: The checkpoints.
        first: First window that was written.
    """

    folder: Path
    cluster: Cluster
    options: RawOptions
    written: Written
    power: PowerFiles | None = None
    saves: CheckpointLog = field(default_factory=CheckpointLog)
    first: StepWindow | None = None

    def write(
        self, number: int, day: tuple[int, int], *, is_old: bool
    ) -> Iterator[int]:
        """Write a day, or only note what is noted of old ones.

        Yields of each window how many steps of ranks it has. [1]

        Args:
            number: Number of the day.
            day: From when to when it is. [ns]
            is_old: Whether its steps and power are not written.
        """
        power = self.power
        if power is not None and not is_old:
            power.begin(number)
        for window in ahead(step_windows(self.cluster, *day)):
            self.saves.take(window)
            self.written.booked.append(book_steps(window))
            if power is not None:
                power.take(window)
            if not is_old:
                self._write_steps(window)
            yield window.steps * window.ranks
        if power is not None:
            as_text = self.options.steps != "parquet"
            self.written.power += power.end(number, as_text=as_text)

    def _write_steps(self, window: StepWindow) -> None:
        logs = StepLogs(self.folder / "steps", self.cluster, self.options.steps)
        self.written.steps += logs.take(window)
        self.first = self.first or window


def _write_saves(
    folder: Path, cluster: Cluster, saves: CheckpointLog, options: RawOptions
) -> int:
    if options.steps == "parquet":
        path = folder / "checkpoints" / "saves.parquet"
        return saves.write_table(path, cluster.scenario.run_id)
    return saves.write(folder / "events" / "training-events.log")


def _write_traces(
    folder: Path, cluster: Cluster, window: StepWindow, options: RawOptions
) -> int:
    """Write traces of the middle of a window, of ranks spread over the run."""
    middle = window.steps // 2
    step, size = window.first_step + middle, options.trace_bytes
    if options.trace is None:
        template = made_template(cluster.scenario.seed, size=size, step=step)
    else:
        template = TraceTemplate.load(options.trace, size=size, step=step)
    places = list(places_of(cluster, int(window.start[middle, 0]), options.traces))
    write_traces(folder, template, places)
    return len(places)
