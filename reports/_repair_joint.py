"""What all repairs together would save, beside the sum of each alone."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from reports import _repair_answers
from reports._section import Scope
from reports._words import name, plural
from reports.dollars import dollars, in_words


def said(answers: pl.DataFrame, scope: Scope) -> list[str]:
    """Return a sentence for each run whose repairs were also simulated together.

    Args:
        answers: Rows of `_repair_answers.answered`.
        scope: Runs and prices of the page.
    """
    worth = answers.filter(_repair_answers.is_worth())
    joints = worth.filter("is_joint").sort("run_id").to_dicts()
    return list(_sentences(joints, worth, scope))


def _sentences(
    joints: list[dict[str, Any]], worth: pl.DataFrame, scope: Scope
) -> Iterator[str]:
    several = len(scope.provenance.run_ids) != 1
    for joint in joints:
        run_id = str(joint["run_id"])
        alone = worth.filter((pl.col("run_id") == run_id) & ~pl.col("is_joint"))
        price = scope.price(run_id)
        total = sum(int(saved) for saved in alone["saved_gpu_ns"])
        of_run = f" of {name(run_id)}" if several else ""
        together = in_words(dollars(int(joint["saved_gpu_ns"]), price))
        left = joint["left_out_count"]
        yield (
            f"The {plural(alone.height, 'repair')}{of_run} beyond noise save"
            f" {together} together, in the steps seen; one by one they would seem to"
            f" save {in_words(dollars(total, price))}."
            + (
                f" {plural(left, 'more slow one')} not counted one by one."
                if left
                else ""
            )
        )
