"""How far ranks of a hang got: in each group, and what each has not finished."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._hang_bundles import with_bundles
from analysis._hang_dumps import HANG, RANK
from analysis._hang_joint import JOINT
from analysis._hang_members import GROUP

#: Time after its request from which on the end of a collective is no success, unless a
#: member of the group saw it end sooner: watchdogs give up after minutes, and what they
#: abort is then seen to end. [ns]
ABORTED_AFTER_NS: Final = 60 * 10**9

_IN_GROUP: Final = (*GROUP, "rank")
_INSTANCE: Final = (*GROUP, "sequence")

_SAID: Final = ("enqueued", "completed")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far ranks got.

    Attributes:
        entries: What dumps hold, with their hang; lazy, for it may be much.
        counts: Per rank and group: `entered` and `finished`, the numbers of the last
            collective asked for and ended, null where unknown; `first_open`, the number
            of the oldest that the dump shows open; and whether there `is_lost_pair`: a
            send or receive that is open and no longer shown.
        joint: Per group, `joint`: number of the last collective that a rank saw end and
            that none can finish alone; `is_joint`: whether all that are seen are such.
        pending: Entries that did not end, or only by being aborted.
    """

    entries: pl.LazyFrame
    counts: pl.DataFrame
    joint: pl.DataFrame
    pending: pl.DataFrame


def progress_of(
    dumps: pl.DataFrame, statuses: pl.LazyFrame, entries: pl.LazyFrame
) -> Progress:
    """Tell how far ranks got in their groups.

    Numbers of sends and receives are a rank's own and mix with those of collectives in
    the counts of a group. Of a pipeline group, and of any in which a send or receive is
    seen, those are of no use: entries count alone.

    Args:
        dumps: Rows of `dumps_of`.
        statuses: Rows of `statuses_of`.
        entries: Rows of `entries_of`.
    """
    owner = dumps.lazy().select(*HANG, "dump_id", owner="rank")
    ours = entries.join(owner, on=("run_id", "dump_id")).with_columns(rank="owner")
    told = statuses.join(owner, on=("run_id", "dump_id")).with_columns(rank="owner")
    held = with_bundles(ours, told)
    marked = held.with_columns(is_ended=_ended(), is_late=_late())
    paired = held.filter("is_p2p").select(*GROUP).unique().collect(engine="streaming")
    pending = _pending(marked)
    counts = _counts(told, marked, paired, pending)
    return Progress(held, counts, _joint(marked), pending)


def _late() -> pl.Expr:
    took = pl.col("end_ns") - pl.col("enqueue_ns")
    return ((pl.col("state") == "completed") & (took > ABORTED_AFTER_NS)).fill_null(
        value=False
    )


def _ended() -> pl.Expr:
    return (pl.col("state") == "completed") & ~_late()


def _pending(marked: pl.LazyFrame) -> pl.DataFrame:
    """Return entries that did not end.

    One that ended late counts as aborted if the rank ended nothing in time after it,
    and if nobody in the group saw it end in time.
    """
    last = marked.filter("is_ended").group_by(RANK).agg(last=pl.col("event").max())
    open_ = marked.filter("is_late" | (pl.col("state") != "completed"))
    late = pl.col("is_late")
    some = open_.join(last, on=RANK, how="left").filter(
        ~late | pl.col("last").is_null() | (pl.col("event") > pl.col("last"))
    )
    found = some.drop("last", "is_ended", "owner").collect(engine="streaming")
    numbers = found.lazy().filter(late).select(_INSTANCE).unique()
    in_time = (
        marked.filter("is_ended")
        .join(numbers, on=_INSTANCE, how="semi")
        .select(_INSTANCE)
        .unique()
        .collect(engine="streaming")
        .with_columns(in_time=True)
    )
    judged = found.join(in_time, on=_INSTANCE, how="left")
    return judged.filter(~late | pl.col("in_time").is_null()).drop("in_time", "is_late")


def _counts(
    told: pl.LazyFrame,
    marked: pl.LazyFrame,
    paired: pl.DataFrame,
    pending: pl.DataFrame,
) -> pl.DataFrame:
    first = pending.group_by(_IN_GROUP).agg(
        first_open=pl.col("sequence").min(), first_pair=pl.col("p2p_sequence").min()
    )
    alike = paired.with_columns(is_paired=True)
    both = _seen_and_said(told, marked).join(alike, on=GROUP, how="left")
    rows = both.join(first, on=_IN_GROUP, how="left")
    is_pipeline = (pl.col("parallel_kind") == "pp").fill_null(value=False)
    counts = pl.col("is_paired").is_null() & ~is_pipeline
    said = {name: pl.when(counts).then(f"last_{name}") for name in _SAID}
    finished = pl.max_horizontal(said["completed"], "seen_finished")
    before = pl.coalesce(pl.col("first_open") - 1, finished)
    return rows.select(
        *_IN_GROUP,
        "parallel_kind",
        "first_open",
        is_paired=~counts,
        entered=pl.max_horizontal(said["enqueued"], "seen_entered"),
        finished=pl.min_horizontal(finished, before),
        is_lost_pair=~counts & _is_lost_pair(),
    )


def _seen_and_said(told: pl.LazyFrame, marked: pl.LazyFrame) -> pl.DataFrame:
    """Return, per rank and group, what its entries show and what its status says."""
    number, kind = pl.col("sequence"), pl.col("parallel_kind").drop_nulls().min()
    seen = marked.group_by(_IN_GROUP).agg(
        kind.alias("seen_kind"),
        seen_entered=number.max(),
        seen_finished=number.filter("is_ended").max(),
    )
    said = told.group_by(_IN_GROUP).agg(
        kind.alias("said_kind"), *(pl.col(f"last_{name}").max() for name in _SAID)
    )
    both = seen.join(said, on=_IN_GROUP, how="full", coalesce=True)
    named = both.with_columns(parallel_kind=pl.coalesce("seen_kind", "said_kind"))
    return named.collect(engine="streaming")


def _is_lost_pair() -> pl.Expr:
    """Whether a group of pairs alone has an open one that is older than all shown."""
    after = pl.col("last_completed") + 1
    is_older = pl.col("first_pair").is_null() | (pl.col("first_pair") > after)
    is_open = pl.col("last_enqueued") > pl.col("last_completed")
    lost = is_open & is_older & pl.col("seen_entered").is_null()
    return lost.fill_null(value=False)


def _joint(marked: pl.LazyFrame) -> pl.DataFrame:
    all_needed = pl.col("kind").is_in(JOINT)
    number = pl.col("sequence").filter(pl.col("is_ended") & all_needed)
    found = marked.group_by(GROUP).agg(joint=number.max(), is_joint=all_needed.all())
    return found.collect(engine="streaming")
