"""From events to incidents: what one cause on a node or fabric brought about."""

from typing import Final

import polars as pl

from analysis._failure_roles import (
    SEVERITIES,
    category,
    is_failure,
    role_rank,
    severity_rank,
    told_rank,
)
from analysis.gpus import Gpus

#: How long after its cause a consequence may begin: processes of other nodes are torn
#: down within it. The reach of Meta's rule for attribution (arXiv 2410.21680). [ns]
CONSEQUENCE_NS: Final = 300 * 1_000_000_000

#: How far clocks of two nodes' logs may lie apart, and still one tells of the cause
#: of the other: lines of syslog carry whole seconds, and NTP holds far less. [ns]
CLOCK_NS: Final = 5 * 1_000_000_000

#: Failures of the network within this time under one switch have one cause: a switch
#: takes its ports down at once, and links are retried for some tens of seconds. [ns]
FABRIC_NS: Final = 60 * 1_000_000_000

#: Roles that never start an incident beside another.
CONSEQUENCES: Final = ("cascade", "symptom")

_IDENTITY: Final = ("source", "code", "gpu_key", "undated")


def chain(events: pl.DataFrame, window_ns: int, span_ns: int) -> pl.DataFrame:
    """Bring the events of a place together that follow each other closely.

    A place is a node; for watchdogs, which every node prints, it is the run that held
    the node, else the cluster; for one code of a run's own log that names no node, the
    run. An event without a time is alone.

    Args:
        events: Rows of `group_lines`, with the `run_id` that held the node.
        window_ns: Longest silence inside a chain. [ns]
        span_ns: Longest chain; a longer one is cut. [ns]

    Returns:
        The events with `chain`, the number of the chain that each belongs to.
    """
    place = pl.struct("cluster", *_place()).rank("dense")
    placed = events.with_columns(_place=place)
    reached = pl.col("last_ns").cum_max().over("_place", order_by="first_ns")
    before = reached.shift(1).over("_place", order_by="first_ns")
    opens = (pl.col("first_ns") - before > window_ns).fill_null(value=True)
    linked = placed.with_columns(
        _link=opens.cast(pl.Int64).cum_sum().over("_place", order_by="first_ns")
    )
    since = pl.col("first_ns") - pl.col("first_ns").min().over("_place", "_link")
    cut = linked.with_columns(_cut=since // span_ns)
    number = pl.struct("_place", "_link", "_cut").rank("dense").cast(pl.Int64)
    return cut.with_columns(chain=number).drop("_place", "_link", "_cut")


def _place() -> list[pl.Expr]:
    is_alone = pl.col("first_ns").is_null()
    is_symptom = (pl.col("role") == "symptom") & ~is_alone
    is_nowhere = (pl.col("host").is_null() & ~is_symptom) | is_alone
    identity = [pl.when(is_nowhere).then(name).alias(name) for name in _IDENTITY]
    return [
        is_symptom.alias("is_symptom"),
        pl.when(~is_symptom).then("host").alias("host"),
        pl.when(is_symptom | is_nowhere).then("run_id").alias("run_id"),
        *identity,
    ]


def roots(events: pl.DataFrame) -> pl.DataFrame:
    """Return the root event of each chain.

    What an operator says failed stands before all. Causes stand before what users did,
    and that before consequences; then the worst, then the first. A teardown error never
    replaces the failure before it.
    """
    names = ("first_ns", "source", "code", "gpu_key", "host")
    said = told_rank("source") + (severity_rank() == SEVERITIES.index("info"))
    ranked = events.sort(said > 0, role_rank(), severity_rank(), *map(pl.col, names))
    return ranked.unique("chain", keep="first", maintain_order=True)


def absorb(events: pl.DataFrame) -> pl.DataFrame:
    """Give chains of consequences alone to the chain of their cause, where one is.

    The cause began before the consequence ended, and went on until shortly before it
    began, in the same run; where no run is known, watchdogs are held against every
    cause of the cluster.
    """
    is_consequence = pl.col("role").is_in(CONSEQUENCES)
    chains = events.drop_nulls("first_ns").with_columns(
        _alone=is_consequence.all().over("chain"),
        _symptom=(pl.col("role") == "symptom").all().over("chain"),
    )
    causes = chains.filter(~pl.col("_alone") & ~is_consequence & is_failure())
    spans = causes.group_by("cluster", "run_id", "chain").agg(
        pl.col("first_ns").min(), pl.col("last_ns").max()
    )
    alone = chains.filter("_alone")
    placed = alone.drop_nulls("run_id")
    unplaced = alone.filter(pl.col("run_id").is_null() & pl.col("_symptom"))
    found = pl.concat(
        [
            _last_cause(placed, spans.drop_nulls("run_id"), ["cluster", "run_id"]),
            _last_cause(unplaced, spans, ["cluster"]),
        ]
    )
    given = found.unique("chain", keep="first")
    return _renumber(events, given)


def _last_cause(
    consequences: pl.DataFrame, causes: pl.DataFrame, by: list[str]
) -> pl.DataFrame:
    """Return `chain` and `into`, the last cause that had begun by its end."""
    wanted = consequences.group_by(*by, "chain").agg(
        onset_ns=pl.col("onset_ns").min(), until_ns=pl.col("last_ns").max() + CLOCK_NS
    )
    begun = causes.select(*by, "first_ns", "last_ns", into="chain")
    joined = wanted.sort("until_ns").join_asof(
        begun.sort("first_ns", "into"),
        left_on="until_ns",
        right_on="first_ns",
        by=by,
        strategy="backward",
        check_sortedness=False,
    )
    near = pl.col("last_ns") >= pl.col("onset_ns") - CONSEQUENCE_NS
    return joined.filter(near).select("chain", "into").sort("chain", "into")


def merge_under_switches(events: pl.DataFrame, gpus: pl.DataFrame) -> pl.DataFrame:
    """Make one of network incidents that begin together on nodes of one switch."""
    under = gpus.select("host", Gpus.switch.name).drop_nulls().unique()
    hit = roots(events).with_columns(category=category())
    ports = (
        hit.filter((pl.col("category") == "network") & (pl.col("role") == "root"))
        .join(under, on="host")
        .select("cluster", "switch", "host", "first_ns", "chain")
    )
    link = _links(FABRIC_NS).over("cluster", "switch", order_by="first_ns")
    linked = ports.with_columns(_link=link).with_columns(
        _hosts=pl.col("host").n_unique().over("cluster", "switch", "_link")
    )
    shared = linked.filter(pl.col("_hosts") > 1).sort(
        "chain", "_hosts", "switch", "_link", descending=[False, True, False, False]
    )
    chosen = shared.unique("chain", keep="first", maintain_order=True)
    into = pl.col("chain").min().over("cluster", "switch", "_link")
    return _renumber(events, chosen.select("chain", into=into))


def merge_in_attempts(events: pl.DataFrame) -> pl.DataFrame:
    """Make one of incidents that one error of a program makes on many nodes of a run.

    The same error on many ranks of one attempt is no recurrence.
    """
    hit = roots(events).filter(
        (pl.col("source") == "application") & pl.col("run_id").is_not_null()
    )
    by = ("run_id", "attempt", "code", "role")
    link = _links(CONSEQUENCE_NS).over(by, order_by="first_ns")
    linked = hit.select(*by, "first_ns", "chain").with_columns(_link=link)
    into = pl.col("chain").min().over(*by, "_link")
    return _renumber(events, linked.select("chain", into=into))


def _links(gap_ns: int) -> pl.Expr:
    """Number rows in order of `first_ns`: those that follow each other closely."""
    opens = pl.col("first_ns").diff() > gap_ns
    return opens.fill_null(value=False).cast(pl.Int64).cum_sum()


def _renumber(events: pl.DataFrame, into: pl.DataFrame) -> pl.DataFrame:
    joined = events.join(into, on="chain", how="left")
    return joined.with_columns(chain=pl.coalesce("into", "chain")).drop("into")
