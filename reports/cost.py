"""What was paid, and which share of it did useful work."""

import math
from collections.abc import Sequence
from typing import Final

import polars as pl

from analysis import Frames
from analysis.lost_time import LostTime
from analysis.runs import Runs
from ingest.tables import IngestedFiles
from reports import _ledger, _runs, _sql
from reports._ledger import Account
from reports._numbers import compact, grouped, percent
from reports._section import Chart, Content, Figure, Scope, Section
from reports._words import plural
from reports.dollars import in_words
from reports.theme import COLOURS, MEANING_OF_ACCOUNT

#: Evidence that only bounds useful work from above.
_UPPER_BOUND: Final = "step_duration_upper_bound"

#: Below this many GPU-hours three digits say more than all of them.
_ALL_DIGITS_FROM: Final = 100

_PARTS: Final = {
    "productive": "useful work",
    "communication": "communication",
    "waiting": "waiting",
    "broken": "broken",
    "idle": "idle",
    "unknown": "not known",
}

_SQL: Final = """\
SELECT CASE $cases END AS part,
       sum(gpu_ns) / 3.6e12 AS gpu_hours
FROM lost_time
${where}GROUP BY part
ORDER BY gpu_hours DESC, part"""


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
        charts=[_strip(rows, found, scope)],
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
    figures = [Figure(in_words(paid.usd), "paid", "paid", _time(paid))]
    for meaning, label in _PARTS.items():
        part = _of_meaning(found, meaning)
        if part.gpu_ns:
            value = percent(_ledger.share(part, paid))
            figures.append(Figure(value, label, meaning, in_words(part.usd)))
    return figures


def _of_meaning(found: Sequence[Account], meaning: str) -> Account:
    names = [name for name, its in MEANING_OF_ACCOUNT.items() if its == meaning]
    return _ledger.of(found, *names)


def _strip(rows: pl.DataFrame, found: Sequence[Account], scope: Scope) -> Chart:
    from reports.charts import bars

    paid = _ledger.paid(found)
    parts = [(label, _of_meaning(found, m), m) for m, label in _PARTS.items()]
    shares = [float(_ledger.share(part, paid)) for _, part, _ in parts]
    drawn = pl.DataFrame(
        {
            "part": [label for label, _, _ in parts],
            "start": [math.fsum(shares[:i]) for i in range(len(shares))],
            "end": [math.fsum(shares[: i + 1]) for i in range(len(shares))],
            "text": [percent(_ledger.share(part, paid)) for _, part, _ in parts],
        }
    ).filter(pl.col("end") > pl.col("start"))
    colours = {label: COLOURS[meaning] for label, part, meaning in parts if part.gpu_ns}
    said = ", ".join(f"{row['part']} {row['text']}" for row in drawn.to_dicts())
    runs = rows["run_id"].n_unique()
    return Chart(
        name="cost-split",
        title="What the time paid for went into",
        summary=f"One bar, cut into {said}.",
        spec=bars.strip(drawn, colours),
        numbers=_numbers(rows),
        sql=_sql.filled(_SQL, cases=_cases(), where=_sql.where(scope.sql())),
        definition="Each GPU-second that was paid for goes to the first account that"
        " applies to it; a colour stands for the accounts of one meaning.",
        source="the ledger, see How each number is made",
        sample=f"{plural(runs, 'run')}, {_time(paid)} paid for",
        blind_spots="Time outside allocations is not paid for here, so it is not here.",
    )


def _cases() -> str:
    return "category " + " ".join(
        f"WHEN {_sql.literal(account)} THEN {_sql.literal(_PARTS[meaning])}"
        for account, meaning in MEANING_OF_ACCOUNT.items()
    )


def _numbers(rows: pl.DataFrame) -> pl.DataFrame:
    labels = {a: _PARTS[meaning] for a, meaning in MEANING_OF_ACCOUNT.items()}
    return (
        rows.with_columns(part=pl.col("category").replace_strict(labels))
        .group_by("part")
        .agg(gpu_hours=pl.col("gpu_ns").sum().cast(pl.Float64) / 3.6e12)
        .sort(["gpu_hours", "part"], descending=[True, False])
    )


SECTION: Final = Section("cost", "What it cost", (LostTime, Runs, IngestedFiles), build)
