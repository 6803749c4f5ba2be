"""What was looked at to find why GPUs were slow, and scores that others give them."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from analysis import Frames
from analysis.section_scores import THRESHOLD, SectionScores
from analysis.stragglers import StragglerEvidence
from reports import _sql
from reports._numbers import grouped, percent, significant
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._slow_ranks import who
from reports._words import name, plural, said

#: What names a spell in both tables.
_SPELL: Final = ("run_id", "scope", "scope_id", "attempt", "first_step")

#: What says that a GPU is not slow itself, but waits for others.
_VICTIM: Final = "victim"

#: Ranks in the listing of scores: enough to compare with what one knows.
_MOST_SCORES: Final = 5

_EVIDENCE_SQL: Final = """\
SELECT straggler_evidence.*
FROM straggler_evidence
JOIN straggler_ranks USING (run_id, scope, scope_id, attempt, first_step)
${where}ORDER BY lost_gpu_ns DESC, run_id, scope_id, first_step,
         supports DESC NULLS LAST, rung"""

_SCORES_SQL: Final = """\
SELECT *
FROM section_scores
${where}ORDER BY relative_score NULLS LAST, run_id, section, rank"""


def evidence(frames: Frames, slow: pl.DataFrame, scope: Scope) -> list[Listing]:
    """Return the rungs of the ladder of causes: those that speak, for first.

    Args:
        frames: The tables.
        slow: Rows of StragglerRanks, the dearest first.
        scope: Runs of the page.
    """
    spells = slow.with_row_index("order").select(
        "order", *_SPELL, "rank", "host", "last_step"
    )
    looked_at = scope.of_runs(frames[StragglerEvidence]).collect()
    rows = spells.join(looked_at, on=list(_SPELL)).sort(
        ["order", "supports", "rung"],
        descending=[False, True, False],
        nulls_last=[False, True, False],
    )
    if rows.is_empty():
        return []
    told = rows.filter(pl.col("supports").is_not_null())
    silent = rows.height - told.height
    more = [
        plural(max(told.height - MOST_ROWS, 0), "more that speaks", "more that speak"),
        plural(silent, "rung without data", "rungs without data"),
    ]
    return [
        Listing(
            title="What speaks for and against each cause, the strongest first",
            columns=(
                Column("Who"),
                Column("Cause"),
                Column("Speaks", "For the cause, or against it."),
                Column("Evidence"),
                Column("Read from", "Table, and its rows in the spell."),
            ),
            rows=[_rung(row) for row in told.head(MOST_ROWS).to_dicts()],
            more=", ".join(text for text in more if not text.startswith("0")),
            sql=_sql.filled(_EVIDENCE_SQL, where=_where(scope)),
        )
    ]


def _where(scope: Scope) -> str:
    return _sql.where(scope.sql())


def _rung(row: Mapping[str, object]) -> tuple[str, ...]:
    cause, supports = str(row["cause"]), bool(row["supports"])
    if cause == _VICTIM:
        speaks = "clears it" if supports else "does not clear it"
    else:
        speaks = "for" if supports else "against"
    count = int(str(row["rows_count"]))
    return (
        f"{who(row)}, from step {grouped(int(str(row['first_step'])))}",
        said(cause),
        speaks,
        name(str(row["evidence"] or ""), 300),
        f"{row['table_name']}, {plural(count, 'row')}",
    )


def scores(frames: Frames, scope: Scope) -> list[Listing]:
    """Return the lowest scores, for those who know them from NVRx.

    Args:
        frames: The tables.
        scope: Runs of the page.
    """
    rows = (
        scope.of_runs(frames[SectionScores])
        .sort("relative_score", "run_id", "section", "rank", nulls_last=True)
        .collect()
    )
    measured = rows.filter(pl.col("relative_score").is_not_null())
    if measured.is_empty():
        return []
    flagged = int(measured["is_flagged"].sum())
    shown = measured.head(_MOST_SCORES)
    least = scope.provenance.thresholds.get("section_score_threshold", THRESHOLD)
    slower = percent(1 / least - 1)
    return [
        Listing(
            title="Lowest scores as NVRx counts them"
            f" ({flagged or 'none'} of {measured.height} flagged; NVRx flags from"
            f" {slower} slower on, so that a smaller slowdown has no flag)",
            columns=(
                Column("Rank"),
                Column("Section", "Own work of a step, a kind of pass, or kernels."),
                Column(
                    "Relative",
                    "Least median of all ranks over its own: 0.5 is twice as slow,"
                    f" flagged below {least:g}, which is {slower} slower.",
                    is_number=True,
                ),
                Column(
                    "Individual",
                    "Its best median so far over that of its last report.",
                    is_number=True,
                ),
                Column("Flagged", "Whether a score is below the threshold."),
            ),
            rows=[_score(row) for row in shown.to_dicts()],
            more=plural(measured.height - shown.height, "more score")
            if measured.height > shown.height
            else "",
            sql=_sql.filled(_SCORES_SQL, where=_where(scope)),
        )
    ]


def _score(row: Mapping[str, object]) -> tuple[str, ...]:
    return (
        f"rank {row['rank']}",
        said(str(row["section"])),
        _value(row["relative_score"]),
        _value(row["individual_score"]),
        "yes" if row["is_flagged"] else "no",
    )


def _value(score: object) -> str:
    return "not measured" if score is None else significant(float(str(score)), 3)
