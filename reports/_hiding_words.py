"""What hiding communication costs compute, in a sentence."""

import polars as pl

from analysis.hiding_costs import LEAST_SLOWDOWN, by_name
from reports._numbers import duration, percent, significant
from reports._words import name, plural


def cost_of_hiding(costs: pl.DataFrame) -> list[str]:
    """Return what is known of kernels that ran beside communication and alone.

    Args:
        costs: Rows of HidingCosts.
    """
    if costs.is_empty():
        return []
    found = by_name(costs)
    slower = found.filter("is_slower")
    compared = plural(found["name"].n_unique(), "compute kernel")
    least = percent(LEAST_SLOWDOWN - 1)
    if slower.is_empty():
        said = (
            f"Hiding costs nothing that could be seen: of {compared} that ran beside"
            f" communication and alone, none is slower beside it by {least} or more,"
            " beyond chance."
        )
        return [said]
    worst = slower.row(0, named=True)
    total = duration(float(slower["cost_ns"].sum()))
    said = (
        f"Hiding seems to cost {total} of compute on the traced GPUs:"
        f" {slower['name'].n_unique()} of {compared} that ran beside"
        f" communication and alone took at least {least} longer beside it, beyond"
        f" chance; {name(worst['name'], 40)} costs most, at"
        f" {significant(worst['slowdown_ratio'])} times its length. Kernels of one name"
        " may do work of several sizes, which would show here as well."
    )
    return [said]
