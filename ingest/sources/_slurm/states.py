"""States of Slurm's jobs: in full, shortened, cut, and with what is said beside."""

from typing import Final

import polars as pl

#: States by the codes of squeue.
STATES: Final = {
    "BF": "BOOT_FAIL",
    "CA": "CANCELLED",
    "CD": "COMPLETED",
    "CF": "CONFIGURING",
    "CG": "COMPLETING",
    "DL": "DEADLINE",
    "F": "FAILED",
    "NF": "NODE_FAIL",
    "OOM": "OUT_OF_MEMORY",
    "PD": "PENDING",
    "PR": "PREEMPTED",
    "R": "RUNNING",
    "RD": "RESV_DEL_HOLD",
    "RF": "REQUEUE_FED",
    "RH": "REQUEUE_HOLD",
    "RQ": "REQUEUED",
    "RS": "RESIZING",
    "RV": "REVOKED",
    "SE": "SPECIAL_EXIT",
    "SI": "SIGNALING",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
    "S": "SUSPENDED",
    "TO": "TIMEOUT",
}

#: States of a job that has no start yet: what its listing says is a forecast.
WAITING: Final = ("PENDING", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT")

#: States of a job that has no end yet: what its listing says is its time limit.
OPEN: Final = (
    *WAITING,
    "CONFIGURING",
    "RUNNING",
    "RESIZING",
    "SIGNALING",
    "STAGE_OUT",
    "STOPPED",
    "SUSPENDED",
)

#: Fewest letters by which a state that sacct's narrow columns cut is known.
_CUT_LETTERS: Final = 3


def state() -> pl.Expr:
    """Return the state in full, of several that stand together the first."""
    first = pl.col("State").str.extract(r"^([^\s+]+)")
    is_cut = pl.col("State").str.ends_with("+")
    known = pl.when(is_cut).then(first.replace(_of_cut())).otherwise(first)
    return known.replace(STATES).alias("state")


def cancelled_by() -> pl.Expr:
    """Return who cancelled the job, null where nothing says so."""
    return pl.col("State").str.extract(r"^CANCELLED by (\S+)").alias("cancelled_by")


def _of_cut() -> dict[str, str]:
    """Return the states by what is left of them in the columns that sacct cuts."""
    starts: dict[str, list[str]] = {}
    for name in STATES.values():
        for length in range(_CUT_LETTERS, len(name)):
            starts.setdefault(name[:length], []).append(name)
    return {
        start: names[0]
        for start, names in starts.items()
        if len(names) == 1 and start not in STATES.values()
    }
