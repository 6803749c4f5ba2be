"""`gpuledger plan`: the run on paper, from its run card."""

from pathlib import Path
from typing import Literal

from pipeline.commands._shared import COMMON, DONE, Common, settings_of


def plan(
    card: Path,
    *,
    format: Literal["table", "csv", "json", "parquet"] = "table",  # noqa: A002
    common: Common = COMMON,
) -> int:
    """Work out a run on paper: what it should take, move, draw, break and cost.

    Each line has its formula, its inputs and where they are from: the card, an
    assumption, or the lake. A lake is not needed; where it has the run, each line that
    was measured stands beside what was planned.

    Example: gpuledger plan run.toml

    Args:
        card: Run card of the run.
        format: How rows are written to stdout.
        common: What every command takes.
    """
    from pipeline import answers, planning

    told = planning.answer(settings_of(common), card)
    for line in told.notes:
        common.say(line)
    rows = planning.as_text(told) if format == "table" else told.rows
    answers.write(rows, format)
    return DONE
