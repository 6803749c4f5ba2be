"""Slow things of a day with their causes: only their devices are read, and a sample."""

from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._straggler_answers import places_of
from analysis._straggler_causes import SPELL, find_evidence
from analysis._straggler_day_search import DaySearch
from analysis._straggler_limits import Limits
from analysis._straggler_scores import ATTEMPT, moment
from analysis._straggler_sources import LOG
from analysis._straggler_things import RANK
from analysis.attempts import Attempts
from ingest.tables import Failures, LinkSamples, Operations, PowerSamples, Table

#: Hosts of the job whose telemetry slow things are held against: with 320 GPUs the
#: median is as good as that of thousands, which differ by a step of their clock.
SAMPLE_HOSTS: Final = 40

#: Hosts of one slow thing that are looked at.
OWN_HOSTS: Final = 8

#: The same of ranks whose host is not known.
SAMPLE_RANKS: Final = 320


def slow_things_of(
    found: DaySearch, frames: Frames, limits: Limits
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return rows of StragglerDaysSpells, and of StragglerDaysEvidence.

    Args:
        found: What was found slow on the day.
        frames: What the day has that may tell causes.
        limits: When something is a cause.
    """
    if found.slow.is_empty():
        return found.slow, found.slow
    costs = found.costs
    told = found.slow.join(costs.losses, on="spell").with_columns(source=pl.lit(LOG))
    seats = _sampled(found.seats, costs.spans)
    near = _narrowed(frames, seats.filter("is_sampled"), costs.spans)
    evidence = find_evidence(told, costs.spans, seats, near, limits.causes)
    steps = found.losses.group_by("spell").agg(
        steps_seen=pl.struct("attempt", "step").n_unique().cast(pl.Int64),
        last=moment().max(),
    )
    placed = (
        told.drop("last_step")
        .join(steps, on="spell")
        .join(found.reach(), on="spell")
        .join(places_of(costs.spans, found.seats), on="spell")
    )
    last = pl.col("last")
    spells = placed.with_columns(last_attempt=last // ATTEMPT, last_step=last % ATTEMPT)
    return spells, evidence.select(*SPELL, pl.all().exclude("spell", *SPELL))


def _sampled(seats: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """Say of seats whether they are of a host that is looked at: slow ones, and others.

    They are taken evenly, in order of their ranks, from all of the attempt and from
    those of each slow thing.
    """
    node = pl.coalesce("host", pl.col("rank").cast(pl.String))
    named = seats.with_columns(node=node)
    slow = named.join(spans.select("spell", *RANK), on=list(RANK))
    of_attempt = ["run_id", "attempt"]
    attempts = named.join(slow.select(of_attempt).unique(), on=of_attempt, how="semi")
    most = pl.when(pl.col("host").is_null()).then(SAMPLE_RANKS).otherwise(SAMPLE_HOSTS)
    others = _evenly(attempts, of_attempt, most)
    own = _evenly(slow, [*of_attempt, "spell"], pl.lit(OWN_HOSTS))
    wanted = pl.concat([others, own]).unique()
    marked = wanted.with_columns(is_sampled=pl.lit(value=True))
    told = named.join(marked, on=[*of_attempt, "node"], how="left").drop("node")
    return told.with_columns(pl.col("is_sampled").fill_null(value=False))


def _evenly(seats: pl.DataFrame, group: list[str], most: pl.Expr) -> pl.DataFrame:
    """Return `run_id`, `attempt` and `node` of so many nodes of each group."""
    nodes = seats.group_by(*group, "node").agg(
        pl.col("rank").min(), most=most.min().cast(pl.Int64)
    )
    at, every = pl.int_range(pl.len()), pl.len().cast(pl.Int64)
    share = pl.min_horizontal(pl.col("most") / every, 1.0)
    taken = ((at + 1) * share).floor() > (at * share).floor()
    ordered = nodes.sort(*group, "rank", "node").with_columns(taken=taken.over(group))
    return ordered.filter("taken").select("run_id", "attempt", "node")


def _narrowed(frames: Frames, seats: pl.DataFrame, spans: pl.DataFrame) -> Frames:
    """Return the frames of causes, power samples of some seats' devices alone."""
    tables: tuple[type[Table], ...] = (Failures, LinkSamples, Operations, Attempts)
    told: dict[type[Table], pl.LazyFrame] = {table: frames[table] for table in tables}
    power = _samples(frames[PowerSamples], seats, spans)
    return Frames({**told, PowerSamples: power})


def _samples(
    samples: pl.LazyFrame, seats: pl.DataFrame, spans: pl.DataFrame
) -> pl.LazyFrame:
    """Read the samples of some seats' devices while something was slow, once.

    A device is known by its host, or by its UUID where samples tell no host.
    """
    near = PowerSamples.time_ns.col.is_between(
        spans["from_ns"].min(), spans["to_ns"].max()
    )
    names = seats["gpu_uuid"].drop_nulls()
    known = pl.concat([names, names.str.to_lowercase()]).unique().sort()
    of_hosts = pl.col("host").is_in(_spellings(samples, seats))
    is_ours = pl.col("gpu_uuid").is_in(known.implode()) | of_hosts
    return samples.filter(near & is_ours).collect(engine="streaming").lazy()


def _spellings(samples: pl.LazyFrame, seats: pl.DataFrame) -> list[str]:
    """Return how power telemetry spells the hosts of some seats: up to a domain."""
    ours = seats["host"].drop_nulls().unique()
    short = pl.col("host").str.to_lowercase().str.extract(r"^([^.]+)")
    wanted = pl.DataFrame({"host": ours}).select(short).to_series().implode()
    # a filter before that would look at every row
    seen = samples.select("host").unique().collect(engine="streaming")
    return sorted(seen.filter(short.is_in(wanted))["host"].drop_nulls().to_list())
