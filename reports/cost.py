"""What was paid, and which share of it did useful work."""

from collections.abc import Sequence
from typing import Final

from analysis import Frames
from analysis.lost_time import LostTime
from analysis.runs import Runs
from ingest.tables import IngestedFiles
from reports import _ledger, _ledger_strip, _runs
from reports._ledger import Account
from reports._numbers import compact, grouped, percent
from reports._section import Content, Figure, Scope, Section
from reports._words import plural
from reports.dollars import in_words

#: Evidence that only bounds useful work from above.
_UPPER_BOUND: Final = "step_duration_upper_bound"

#: Below this many GPU-hours three digits say more than all of them.
_ALL_DIGITS_FROM: Final = 100


def build(frames: Frames, scope: Scope) -> Content:
    """Return the sentence that the page is about."""
    rows = _ledger.by_run(frames, scope)
    found = _ledger.accounts(rows, scope)
    runs = _runs.listing(frames, scope)
    if not found:
        return Content(
            heading="No GPU time that was paid for has been found yet.",
            listings=[runs] if runs.rows else [],
            empty="Scheduler jobs (sacct or squeue), a step log or profiler traces say"
            " which GPUs were held, and when: point `gpuledger run` at one of them.",
        )
    count = rows["run_id"].n_unique()
    return Content(
        heading=_sentence(found, count, is_bound=_is_bound(frames, scope)),
        figures=_figures(found),
        charts=[_ledger_strip.chart(rows, found, scope)],
        listings=[runs],
    )


def _is_bound(frames: Frames, scope: Scope) -> bool:
    bound = scope.of_runs(frames[LostTime]).filter(
        (LostTime.basis.col == _UPPER_BOUND)
        & (LostTime.category.col == "productive")
        & (LostTime.gpu_ns.col > 0)
    )
    return not bound.collect().is_empty()


def _sentence(found: Sequence[Account], runs: int, *, is_bound: bool) -> str:
    paid = _ledger.paid(found)
    useful = _ledger.of(found, "productive")
    unknown = _ledger.of(found, "unattributed")
    lost = Account("lost", paid.gpu_ns - useful.gpu_ns, paid.usd - useful.usd)
    over = f" over {plural(runs, 'run')}" if runs > 1 else ""
    most = "At most " if is_bound else ""
    head = (
        f"{_time(paid)}, {in_words(paid.usd)}{over}."
        f" {most}{percent(_ledger.share(useful, paid))} did useful work."
    )
    if not lost.gpu_ns:
        return f"{head} Nothing is known to have gone elsewhere."
    named = Account("named", lost.gpu_ns - unknown.gpu_ns, lost.usd - unknown.usd)
    cause = percent(_ledger.share(named, lost))
    tail = f"{cause} of that has a cause we can name."
    if not named.gpu_ns:
        tail = "no cause can be named for any of it yet."
    return f"{head} {in_words(lost.usd)} went elsewhere; {tail}"


def _time(account: Account) -> str:
    unit = _ledger.unit_for(account.gpu_ns)
    amount = unit.of(account.gpu_ns)
    whole = amount >= _ALL_DIGITS_FROM
    return f"{grouped(round(amount)) if whole else compact(amount)} {unit.name}"


def _figures(found: Sequence[Account]) -> list[Figure]:
    paid = _ledger.paid(found)
    parts = _ledger_strip.by_meaning(found)
    return [
        Figure(
            in_words(paid.usd),
            "paid",
            "paid",
            _time(paid),
            "GPUs held, times the time they were held, times the price of the run.",
        ),
        *[
            Figure(
                percent(_ledger.share(part, paid)),
                _ledger_strip.PARTS[meaning],
                meaning,
                in_words(part.usd),
                _ledger_strip.holds(meaning),
            )
            for meaning, part in parts.items()
        ],
    ]


SECTION: Final = Section("cost", "What it cost", (LostTime, Runs, IngestedFiles), build)
