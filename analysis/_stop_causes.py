"""What stopped a run, in words and by whose it is, from all that is known of it."""

from typing import Final

import polars as pl

from analysis._failure_roles import is_planned_by_operator
from analysis._stops import CANCELLED, OUT_OF_MEMORY, PLANNED, SCHEDULED
from ingest.phrases import phrase

#: Hangs that the program itself began: its ranks asked for different things.
_OF_SOFTWARE: Final = ("wrong_collective", "wrong_size")

#: States of a job that goes on: that of one which another followed is out of date.
_OPEN: Final = ("RUNNING", "COMPLETING", "SUSPENDED")

#: Roles of incidents that are causes; what follows from others is not.
_CAUSES: Final = ("root", "user")


def _is_caused() -> pl.Expr:
    return pl.col("incident_id").is_not_null()


def _is_hang() -> pl.Expr:
    """Return whether the state that ranks were in tells more than the logs do."""
    is_strong = pl.col("role").is_in(_CAUSES).fill_null(value=False)
    return pl.col("hang_id").is_not_null() & ~is_strong


def planned() -> pl.Expr:
    """Return whether a stop was meant; not where something had failed or hung."""
    meant = pl.col("state").is_in(PLANNED).fill_null(value=False)
    told = is_planned_by_operator().fill_null(value=False)
    return (meant & ~_is_caused() & ~_is_hang()) | told


def category() -> pl.Expr:
    """Return whose a stop is: its incident's, its hang's, else by its job's state."""
    state = pl.col("state")
    of_state = (
        pl.when(state.is_in(SCHEDULED))
        .then(pl.lit("scheduler"))
        .when(state.is_in([CANCELLED, OUT_OF_MEMORY]))
        .then(pl.lit("user"))
        .otherwise(pl.lit("unattributed"))
    )
    of_hang = (
        pl.when(pl.col("hang_kind").is_in(_OF_SOFTWARE))
        .then(pl.lit("software"))
        .otherwise(pl.lit("unattributed"))
    )
    return (
        pl.when(_is_hang())
        .then(of_hang)
        .when(_is_caused())
        .then("category")
        .otherwise(of_state)
    )


def component() -> pl.Expr:
    """Return the component at fault; a hang names none."""
    return pl.when(~_is_hang()).then("component")


def cause() -> pl.Expr:
    """Say in words what stopped the run, or what is known instead."""
    code = phrase("{} {}", "root_source", "root_code")
    told = pl.concat_str([code, pl.col("name")], separator=": ", ignore_nulls=True)
    return (
        pl.when(_is_hang())
        .then(phrase("hang: {}", "verdict"))
        .when(_is_caused())
        .then(told)
        .otherwise(_of_state())
    )


def _of_state() -> pl.Expr:
    state = pl.col("state").fill_null(
        pl.when(pl.col("kind") == "end")
        .then(pl.lit("state unknown"))
        .otherwise(pl.lit("steps were done again and no job ended"))
    )
    by = phrase("job state {} by user {}", state, "cancelled_by")
    tells = state.is_in([*PLANNED, *SCHEDULED, OUT_OF_MEMORY])
    anew = "job state COMPLETED; the next attempt begins as the run had begun"
    return (
        pl.when(pl.col("is_anew").fill_null(value=False))
        .then(pl.lit(anew))
        .when(state.is_in(_OPEN))
        .then(phrase("job state {}, although the run went on: its end is lost", state))
        .when(tells)
        .then(pl.coalesce(by, phrase("job state {}", state)))
        .when(pl.col("_has_nodes").fill_null(value=False))
        .then(phrase("{}: no failure on its nodes around its end", state))
        .otherwise(phrase("{}: its nodes are not known", state))
    )
