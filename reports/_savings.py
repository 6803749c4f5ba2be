"""What a repair saves: inside the time on the page, in a day, until the run ends."""

from dataclasses import dataclass
from decimal import Decimal

import polars as pl

from analysis import Frames
from analysis.attempts import Attempts
from reports import _runs
from reports._section import Scope


@dataclass(frozen=True, slots=True)
class Saving:
    """What one repair saves with everything else as it is.

    Attributes:
        usd: Saving inside the time on the page. [USD]
        said: The same in words.
        per_day: The same over the days of its run; None where they are not known.
        rest: The same for the steps that are left; None where they are not known.
        seen_ns: How long its run was seen; None where that is not known. [ns]
        of_traced: Its share of the traced time, where only traces tell of the run;
            empty elsewhere.
    """

    usd: Decimal
    said: str
    per_day: Decimal | None
    rest: Decimal | None
    seen_ns: int | None
    of_traced: str


def saving(
    usd: Decimal, words: tuple[str, str], run_id: str, frames: Frames, scope: Scope
) -> Saving:
    """Return a saving, carried on to days and steps as far as evidence goes.

    Args:
        usd: Saving inside the time on the page. [USD]
        words: The same in words, and its share of the time that the run paid for.
        run_id: The run that pays less.
        frames: The tables.
        scope: Runs of the page.
    """
    said, share = words
    days = _runs.days_of(frames, scope, run_id)
    return Saving(
        usd=usd,
        said=said,
        per_day=usd / days if days else None,
        rest=_rest(usd, run_id, frames),
        seen_ns=int(days * _runs.NS_PER_DAY) if days else None,
        of_traced=share if _runs.is_sampled(frames, run_id) else "",
    )


def _rest(usd: Decimal, run_id: str, frames: Frames) -> Decimal | None:
    """Return the saving over the steps left; none where traces sampled the steps."""
    planned = _runs.planned_steps(frames, run_id)
    first, last, sampled = (
        frames[Attempts]
        .filter(Attempts.run_id.col == run_id)
        .select(
            pl.col("first_step").min(),
            pl.col("last_step").max(),
            sampled=(pl.col("step_basis") == "traces").any(),
        )
        .collect()
        .row(0)
    )
    if planned is None or first is None or last is None or sampled:
        return None
    done, left = last - first + 1, planned - last - 1
    return usd * max(left, 0) / done if done > 0 else None
