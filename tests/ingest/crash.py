"""An ingest that kills itself at its n-th touch of the file system."""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ingest.catalog import publish
from ingest.compaction import Sizes, merge, merges
from ingest.lake import known_files, open_writer
from ingest.staging import stage
from ingest.tables import TABLES
from tests.ingest.tiny import candidate

#: What Python tells of before it does it, to the file system.
WATCHED = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}


class Saboteur:
    """Counts what is about to happen under a folder, and strikes before the n-th."""

    def __init__(self, root: Path, strike: int) -> None:
        self.root = str(root)
        self.strike = strike
        self.seen: list[str] = []
        self.sync = os.fsync
        os.fsync = self.fsync  # type: ignore[assignment]
        sys.addaudithook(self.hear)

    def hear(self, event: str, args: Sequence[Any]) -> None:
        if event in WATCHED and str(args[0]).startswith(self.root):
            self.note(f"{event} {args[0]} {args[1]}")

    def fsync(self, descriptor: int) -> None:
        self.note("fsync")
        self.sync(descriptor)

    def note(self, what: str) -> None:
        self.seen.append(what)
        if len(self.seen) == self.strike:
            os.kill(os.getpid(), signal.SIGKILL)


def night(root: Path, inbox: Path) -> None:
    """Bring what is new in the inbox into the lake, a commit for every two files.

    A file `log-2` takes the place of `log`.
    """
    known = known_files(root)
    ids = dict(known.select("path", "file_id").iter_rows())
    with open_writer(root, grace_s=0) as writer:
        paths = sorted(inbox.iterdir())
        files = [
            candidate(path, supersedes=[old] if old else [])
            for path in paths
            for old in [ids.get(path.name.removesuffix("-2"), "")]
        ]
        new = [f for f in files if f.reading.file_id not in set(known["file_id"])]
        for i in range(0, len(new), 2):
            writer.commit([stage(root, new[i : i + 2], flush_rows=40)])
        publish(root, TABLES)


def merge_all(root: Path, grace_s: float = 0.0) -> None:
    """Merge parts of more than a few rows, some at a time."""
    sizes = Sizes(part=30, window=15)
    with open_writer(root, grace_s=grace_s) as writer:
        for wanted in list(merges(root, TABLES, sizes)):
            merge(writer, wanted, sizes)
        publish(root, TABLES)


def killed_merge(root: Path, strike: int, events: Path) -> None:
    saboteur = Saboteur(root, strike)
    merge_all(root)
    events.write_text("\n".join(saboteur.seen))


def killed_night(root: Path, inbox: Path, strike: int, events: Path) -> None:
    saboteur = Saboteur(root, strike)
    night(root, inbox)
    events.write_text("\n".join(saboteur.seen))
