"""What a failure code is in a chain of causes, and whose it is."""

from typing import Final

import polars as pl

from ingest.tables import Failures
from ingest.xids import XIDS, Role

#: Roles from cause to consequence. The first found in an incident is its root's.
ROLES: Final = ("root", "user", "cascade", "symptom")

#: Severities, worst first. A code without one is taken as an error.
SEVERITIES: Final = ("fatal", "error", "warning", "info")

#: Categories of a cause: those of published lists of failures (Llama 3, arXiv
#: 2407.21783, table 5; Los Alamos, LA-UR-05-7318), and whom a job may be stopped by.
CATEGORIES: Final = (
    "hardware",
    "network",
    "facilities",
    "software",
    "human",
    "maintenance",
    "user",
    "scheduler",
    "unattributed",
)

#: User codes that are a defect where one GPU repeats them under two jobs: an
#: application that is at fault takes its fault with it to other GPUs (NVIDIA's
#: workflow for Xid 13 and 31).
REPEATABLE: Final = ("13", "31")

#: Words in an application's code that tell of waiting in vain: every rank but the
#: guilty one prints them, so they name no cause; nor does the code that a process
#: ended with.
SYMPTOM_WORDS: Final = (
    "(?i)watchdog|collective_timeout|nccl_timeout|peer_lost|worker_exit"
)

#: Family of the codes of a run's own list of interruptions.
OPERATOR: Final = "operator"

_NETWORK: Final = ("network", "nic", "switch", "fabric", "link", "infiniband")
_SOFTWARE: Final = ("software", "driver", "application", "framework")
_SCHEDULER: Final = ("scheduler",)
_FACILITIES: Final = ("facilities", "facility", "environment")
_HUMAN: Final = ("human", "human_error")
_MAINTENANCE: Final = ("maintenance",)
_USER: Final = ("user",)

#: Components of a source that says that nobody knows.
_UNKNOWN: Final = ("undetermined", "unknown")

#: Component of a code of the application once it is laid to the GPU.
DEFECT_COMPONENT: Final = "gpu"


def code_role() -> pl.Expr:
    """Return the role of a code on its own: one of ROLES."""
    is_xid = Failures.source.col == "xid"
    is_symptom = (Failures.source.col == "application") & (
        Failures.code.col.str.contains(SYMPTOM_WORDS)
    )
    is_user = is_xid & Failures.code.col.is_in(_codes("user"))
    return (
        pl.when(is_xid & Failures.code.col.is_in(_codes("cascade")))
        .then(pl.lit("cascade"))
        .when(is_user | Failures.component.col.is_in(_USER))
        .then(pl.lit("user"))
        .when(is_symptom)
        .then(pl.lit("symptom"))
        .otherwise(pl.lit("root"))
    )


def _codes(role: Role) -> list[str]:
    return [str(code) for code, xid in XIDS.items() if xid.role == role]


def category() -> pl.Expr:
    """Return whose a cause is, from `role`, `component` and `source`."""
    component = pl.col("component")
    return (
        pl.when(pl.col("role") == "user")
        .then(pl.lit("user"))
        .when(pl.col("role") == "symptom")
        .then(pl.lit("unattributed"))
        .when(component.is_in(_NETWORK))
        .then(pl.lit("network"))
        .when(component.is_in(_SOFTWARE))
        .then(pl.lit("software"))
        .when(component.is_in(_SCHEDULER))
        .then(pl.lit("scheduler"))
        .when(component.is_in(_FACILITIES))
        .then(pl.lit("facilities"))
        .when(component.is_in(_HUMAN))
        .then(pl.lit("human"))
        .when(component.is_in(_MAINTENANCE))
        .then(pl.lit("maintenance"))
        .when(component.is_null() | component.is_in(_UNKNOWN))
        .then(pl.lit("unattributed"))
        .otherwise(pl.lit("hardware"))
    )


def role_rank() -> pl.Expr:
    """Return the place of `role` in ROLES. [1]"""
    return _rank("role", ROLES)


def severity_rank() -> pl.Expr:
    """Return the place of `severity` in SEVERITIES. [1]"""
    return _rank("severity", SEVERITIES).fill_null(SEVERITIES.index("error"))


def told_rank(source: str) -> pl.Expr:
    """Return 0 for what an operator wrote down, which stands before all logs. [1]

    Args:
        source: Column with the family of the code.
    """
    return (pl.col(source) != OPERATOR).cast(pl.Int8)


def is_planned_by_operator() -> pl.Expr:
    """Return whether an incident is work that an operator says was planned."""
    return (pl.col("root_source") == OPERATOR) & (pl.col("severity") == "info")


def _rank(column: str, words: tuple[str, ...]) -> pl.Expr:
    places = {word: place for place, word in enumerate(words)}
    return pl.col(column).replace_strict(places, default=None, return_dtype=pl.Int8)


def is_failure() -> pl.Expr:
    """Return whether an incident can have stopped anything.

    What only notices tell of (a row marked for remapping, work removed without
    another error) is listed and neither counted nor blamed.
    """
    return (pl.col("role") == "user") | (severity_rank() < SEVERITIES.index("info"))
