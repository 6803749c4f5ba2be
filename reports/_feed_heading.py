"""The finding on a feed of data, in one sentence."""

from typing import Final

import polars as pl

from reports._numbers import grouped
from reports._words import listed, name, plural

#: Kinds of fault in words.
KINDS: Final = {
    "given_twice": "given twice",
    "left_out": "left out",
    "ranks_disagree": "ranks disagree",
    "restart_repeats": "restart repeats",
    "restart_skips": "restart skips",
}

#: The same counted: one, and several.
_COUNTED: Final = {
    "given_twice": ("step with samples given twice", "steps with samples given twice"),
    "left_out": ("step with samples left out", "steps with samples left out"),
    "ranks_disagree": ("step whose ranks disagree", "steps whose ranks disagree"),
    "restart_repeats": ("step that a restart repeats", "steps that a restart repeats"),
    "restart_skips": ("restart that skips samples", "restarts that skip samples"),
}


def heading(feeds: pl.DataFrame, faults: pl.DataFrame, whose: str) -> str:
    """Return the finding with its number.

    Args:
        feeds: Rows of DataFeed with reads.
        faults: Rows of DataFeedViolations.
        whose: Runs that it is of, as " of a"; empty on a page about one run.
    """
    steps = plural(int(feeds["steps_count"].sum()), "step")
    if faults.height == 1:
        told = _once(faults.row(0, named=True))
        return f"The data feed{whose} went wrong once in {steps}: {told}."
    if faults.height:
        return (
            f"The data feed{whose} went wrong in {steps}: {listed(_counts(faults), 5)}."
        )
    if (feeds["verdict"] == "complete").all():
        return (
            f"Every sample{whose} was given once over {steps}{_number(feeds)}: none"
            " twice, none left out."
        )
    return (
        f"No sample{whose} was found given twice or left out over {steps}; not all of"
        " it can be told."
    )


def _once(fault: dict[str, object]) -> str:
    """Return a fault in words, its ranks or samples counted."""
    found = fault["samples_count"]
    many = plural(found, "sample") if isinstance(found, int) else "a batch"
    ranks = name(str(fault["ranks"]), 40) if fault["ranks"] else "not known"
    said = {
        "given_twice": f"{many} came twice",
        "left_out": f"{many} missing",
        "ranks_disagree": f"ranks {ranks} are at odds with their replica",
        "restart_repeats": f"the restart gave {many} again",
        "restart_skips": f"the restart skipped {many}",
    }
    step = grouped(int(str(fault["step"])))
    return f"{said[str(fault['kind'])]} in step {step}"


def _counts(faults: pl.DataFrame) -> list[str]:
    counted = (
        faults["kind"].value_counts().sort(["count", "kind"], descending=[True, False])
    )
    return [plural(count, *_COUNTED[kind]) for kind, count in counted.iter_rows()]


def _number(feeds: pl.DataFrame) -> str:
    if feeds["samples"].null_count():
        return ""
    return f" and {plural(int(feeds['samples'].sum()), 'sample')}"
