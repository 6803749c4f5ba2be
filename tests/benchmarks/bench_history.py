"""The table of the benchmarks, and the history that a regression shows against.

A row compares a time with that of a named peer or limit in the same run: their ratio is
what counts, since it changes less from machine to machine than any time.
"""

import csv
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

#: A ratio that is so many times the last one of the same machine and size is worse.
WORSE: Final = 1.5

#: If it took so much more, too: a ratio also grows where the peer alone was faster,
#: which it is on a machine that was busy the last time.
DEARER: Final = 1.1

#: Packages whose versions are told.
_PACKAGES: Final = ("polars", "duckdb", "numpy", "pyarrow")

#: Columns of the history before those of a row.
_HEAD: Final = ("date", "revision", "machine", "versions")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Attributes:
        what: What was done.
        size: How much of it, in words.
        cost: Processor time that it took, or memory where `what` says so. [s, MB]
        figure: How fast it was on the clock, with its unit.
        peer: What it is compared with.
        peer_cost: The same of the peer. [s, MB]
        memory_mb: Peak of memory. [MB]
    """

    what: str
    size: str
    cost: float
    figure: str
    peer: str
    peer_cost: float
    memory_mb: float

    @property
    def ratio(self) -> float:
        """How often the peer's time it took. [1]"""
        return self.cost / max(self.peer_cost, 1e-9)


@dataclass(frozen=True, slots=True)
class Past:
    """A row of the history, as far as it is compared."""

    what: str
    size: str
    machine: str
    ratio: float
    cost: float


def machine() -> str:
    """Return what the machine is, without its name."""
    model = platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2] for line in lines if line.startswith("model name")]
    words = " ".join((named or [model])[0].split())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} x {words}, {memory:.0f} GiB"


def versions() -> str:
    """Return the versions of what does the work."""
    told = [f"{name} {version(name)}" for name in _PACKAGES]
    return ", ".join([f"Python {platform.python_version()}", *told])


def revision() -> str:
    """Return the revision of the project, empty where git does not tell."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    folder = Path(__file__).parent
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def read_history(path: Path) -> list[Past]:
    """Return the rows of a history, the oldest first; none where there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Past(
                row["what"],
                row["size"],
                row["machine"],
                float(row["ratio"]),
                float(row["cost"]),
            )
            for row in csv.DictReader(file, delimiter="\t")
        ]


def append_history(path: Path, rows: Iterable[Row]) -> None:
    """Append rows to a history."""
    date = f"{datetime.now(UTC):%Y-%m-%d}"
    head = dict(zip(_HEAD, (date, revision(), machine(), versions()), strict=True))
    names = [*_HEAD, *(one.name for one in fields(Row)), "ratio"]
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, names, delimiter="\t", lineterminator="\n")
        if is_new:
            table.writeheader()
        for row in rows:
            told = asdict(row) | {
                "cost": f"{row.cost:.3f}",
                "peer_cost": f"{row.peer_cost:.3f}",
                "memory_mb": f"{row.memory_mb:.0f}",
                "ratio": f"{row.ratio:.3f}",
            }
            table.writerow(head | told)


def regression(row: Row, history: Sequence[Past], here: str) -> str | None:
    """Return how a row is worse than the last one of this machine and size.

    Args:
        row: The row.
        history: The history, the oldest first.
        here: The machine.
    """
    same = [
        one
        for one in history
        if (one.what, one.size, one.machine) == (row.what, row.size, here)
    ]
    if not same or row.ratio <= WORSE * same[-1].ratio:
        return None
    if row.cost <= DEARER * same[-1].cost:
        return None
    return (
        f"{row.what}, {row.size}: {row.ratio:.2f} times {row.peer},"
        f" {row.ratio / same[-1].ratio:.2f} times the {same[-1].ratio:.2f} of the last"
        f" run on this machine; {WORSE} times are allowed"
    )


def table_lines(rows: Sequence[Row]) -> list[str]:
    """Return the table in words, with machine and versions in front."""
    head = ("what", "size", "figure", "cost", "peer", "cost", "ratio", "memory")
    cells = [
        (
            row.what,
            row.size,
            row.figure,
            f"{row.cost:.2f}",
            row.peer,
            f"{row.peer_cost:.2f}",
            f"{row.ratio:.2f}",
            f"{row.memory_mb:.0f} MB",
        )
        for row in rows
    ]
    widths = [max(len(line[n]) for line in (head, *cells)) for n in range(len(head))]
    return [
        machine(),
        versions(),
        *(
            "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True))
            for line in (head, *cells)
        ),
    ]


def history_path() -> Path:
    """Return where the history is: BENCH_HISTORY, else beside this file."""
    given = os.environ.get("BENCH_HISTORY")
    return Path(given) if given else Path(__file__).parent / "history.tsv"


def scale() -> float:
    """Return how often the usual sizes are made: BENCH_SCALE. [1]"""
    return float(os.environ.get("BENCH_SCALE", "1"))


def python_of(script: str, *arguments: object) -> list[str]:
    """Return the command that runs a script of this folder."""
    return [sys.executable, str(Path(__file__).parent / script), *map(str, arguments)]
