"""Tables that tools write for people: what wrote them, and what it writes for readers.

They have no dates, cut what is long, and are aligned by blanks that names may hold.
"""

import re
from collections.abc import Sequence
from typing import Final

from ingest._guess_bytes import Kind

#: Lines that are looked at.
_LINES: Final = 20

#: Share of lines that must be alike for a file to be such a table.
_MOST: Final = 0.8

#: Lines, and cells of a line, from which aligned text is a table.
_FEWEST_LINES: Final = 3
_CELLS: Final = 4

_STATES: Final = r"(?:PD|R|CG|CD|CF|F|S|CA|TO|NF|OOM)"
_LONG_STATES: Final = r"(?:RUNNING|PENDING|COMPLETING|COMPLETED|FAILED|CANCELLED)"
_UP: Final = r"(?:up|down|drain|inact)"
_NODE_STATES: Final = (
    r"(?:idle|alloc(?:ated)?|mix(?:ed)?|down|drain(?:ed|ing)?|comp(?:leting)?|planned)"
    r"[*~#!%$@^+-]*"
)
_LIMIT: Final = r"(?:infinite|n/a|[0-9:-]+)"

_SQUEUE: Final = 'squeue --format "%i|%j|%T|%V|%S|%e|%D|%N|%r|%q|%a|%b"'
_SINFO: Final = 'sinfo -N --format "%N|%T|%E|%H"'

#: What a text has that a tool wrote for people, the tool, and what to write instead.
_TOOLS: Final = (
    (
        r"^\| NVIDIA-SMI [0-9]",
        "a table for people of nvidia-smi",
        (
            "log with nvidia-smi --query-gpu=timestamp,index,uuid,power.draw,"
            "utilization.gpu --format=csv -l 1"
        ),
    ),
    (
        r"^# ?gpu +pid +type\b",
        "a table for people of nvidia-smi pmon",
        "it tells of processes, which no table takes; nvidia-smi dmon tells of GPUs",
    ),
    (
        r"^=+ *(?:ROCm System Management Interface|Concise Info) *=+|^=+ ROCm SMI ",
        "a table for people of rocm-smi",
        "write it with rocm-smi --showuniqueid --showpower --showuse --json",
    ),
    (
        r"^(?:NAMESPACE +)?LAST SEEN +(?:FIRST SEEN +COUNT +)?(?:NAME +)?(?:KIND|TYPE)",
        "a table for people of kubectl get events",
        "write it with kubectl get events -A -o json",
    ),
    (
        r"^(?:NAMESPACE +)?NAME +(?:READY|STATUS|DESIRED|TYPE|DATA) +\S.* AGE\b",
        "a table for people of kubectl",
        "of Kubernetes events are read: kubectl get events -A -o json",
    ),
    (
        r"^Filesystem +\S.* Mounted on *$",
        "a table for people of df",
        "no table takes the space on disks",
    ),
    (
        (
            rf"\A\s*[0-9]+(?:_\S+)? +\S+ +\S.* {_STATES} +[0-9:-]+ +[0-9]+ |"
            rf"\A[^|\n]+(?:\|[^|\n]*)+\|#?{_LONG_STATES} *(?:\||$)"
        ),
        "a listing of squeue without its header",
        f"leave -h out: {_SQUEUE}",
    ),
    (
        (
            rf"\A\s*[^\s|#]+\*? +{_UP} +{_LIMIT} +[0-9]+ +[a-z]+\S* |"
            rf"\A[^|\n]+(?:\|[^|\n]*)*\|(?:{_UP}|{_NODE_STATES}) *(?:\||$)"
        ),
        "a listing of sinfo without its header",
        f"leave -h out: {_SINFO}",
    ),
    (
        r"^ *JobID +JobName +\S.*\n *-+ +-+ ",
        "a table for people of sacct",
        "write it with sacct -P, which cuts nothing",
    ),
    (
        r"^(?:DCGM_FI|dcgm)_\w+ *, *(?:gauge|counter|label)\b",
        "the list of counters that dcgm-exporter is to show, and no samples",
        "read what it answers at /metrics",
    ),
)

_KNOWN: Final = tuple(
    (re.compile(sign, re.MULTILINE), what, remedy) for sign, what, remedy in _TOOLS
)

_FRAME: Final = re.compile(r"^\s*(?:[+|][-=+|]{5}|[\u2500-\u257f]{3})", re.MULTILINE)
_BLANKS: Final = re.compile(r" {3,}")
_GAP: Final = re.compile(r"\s{2,}|\t")

#: Characters of a line that are looked at, so that a long one takes no time.
_CHARACTERS: Final = 1_000


def of_people(text: str) -> Kind | None:
    """Return which table for people a text is; None where it is none."""
    lines = [_short(line) for line in text.splitlines()[:_LINES]]
    start = "\n".join(line for line in lines if line)
    for sign, what, remedy in _KNOWN:
        if sign.search(start):
            return Kind(what, remedy=remedy)
    return None


def _short(line: str) -> str:
    return _BLANKS.sub("  ", line)[:_CHARACTERS].rstrip()


def of_columns(text: str, lines: Sequence[str]) -> Kind | None:
    """Return the kind of lines in columns or in a frame; None where they are in none.

    Args:
        text: The text.
        lines: Lines of it that are not blank.
    """
    cells = [len(_GAP.split(line[:_CHARACTERS].strip())) for line in lines]
    in_columns = sum(count >= _CELLS for count in cells) >= _MOST * len(cells)
    if _FRAME.search(text[: _LINES * _CHARACTERS]) or (
        len(lines) >= _FEWEST_LINES and in_columns
    ):
        return Kind("a table for people", remedy="write it as JSON or CSV, with times")
    return None
