"""`gpuledger whatif`: what a run would take with something repaired."""

from typing import Annotated, Literal

from cyclopts import Parameter

from pipeline.commands._shared import COMMON, DONE, Common, settings_of


def whatif(
    *,
    fix: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    run_id: str | None = None,
    format: Literal["table", "csv", "json", "parquet"] = "table",  # noqa: A002
    common: Common = COMMON,
) -> int:
    """Ask what a run would take with something repaired: time, GPU time and dollars.

    Without --fix, ranks the repairs that the last analysis suggests. Repairs are
    rank=7 (also 3..5 or 1,2), gpu=UUID, host=NAME, rack=NAME, replica=3, stage=15,
    stage=last, workers=slowest, link=A-B, kind=OPERATION, communication (free, or
    =hidden, =dp, =tp, =pp), clocks, gc, sequence-lengths, data, everything, and
    checkpoint="every 100 steps".

    Example: gpuledger whatif --fix rank=7 --fix communication=hidden

    Args:
        fix: What is repaired; given several times, each is also repaired together
            with the others; 100 different ones at most.
        run_id: Run that is asked about; may be left out where the lake has one.
        format: How rows are written to stdout.
        common: What every command takes.
    """
    from pipeline import answers, repairing
    from pipeline._repair_evidence import wanted

    settings = settings_of(common)
    repairs = wanted(fix)
    told = repairing.answer(settings, repairs, run_id)
    for line in told.notes:
        common.say(line)
    rows = repairing.as_text(told) if format == "table" else told.rows
    answers.write(rows, format)
    return DONE
