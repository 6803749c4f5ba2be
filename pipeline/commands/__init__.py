"""Every command, one file each."""

from collections.abc import Callable
from typing import Final

from pipeline.commands.analyze import analyze
from pipeline.commands.compact import compact
from pipeline.commands.demo import demo
from pipeline.commands.generate import generate
from pipeline.commands.ingest import ingest
from pipeline.commands.nightly import nightly
from pipeline.commands.plan import plan
from pipeline.commands.replay import replay
from pipeline.commands.report import report
from pipeline.commands.run import run
from pipeline.commands.sql import sql
from pipeline.commands.tables import tables
from pipeline.commands.whatif import whatif

#: Commands in the order of the help.
COMMANDS: Final[tuple[Callable[..., int], ...]] = (
    run,
    ingest,
    analyze,
    report,
    sql,
    tables,
    whatif,
    plan,
    generate,
    replay,
    nightly,
    compact,
    demo,
)

__all__ = ["COMMANDS"]
