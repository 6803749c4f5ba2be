"""From the lines of failure logs to events: one GPU, one code, one spell."""

from typing import Final

import polars as pl

from analysis._failure_roles import (
    DEFECT_COMPONENT,
    REPEATABLE,
    SEVERITIES,
    code_role,
    severity_rank,
)
from analysis._held_nodes import last_holder
from ingest.tables import Failures

#: What lines of one event have in common. `told_run_id` is the run whose own log the
#: line stands in; what nodes and schedulers tell has none.
SPELL: Final = ("cluster", "host", "gpu_key", "source", "code", "told_run_id")

#: Time within which words of a lost GPU and its Xid 79 tell of one loss: gpud and
#: NVSentinel merge them so. [ns]
SAME_LOSS_NS: Final = 300 * 1_000_000_000

#: Families of codes that tell of a machine.
_OF_MACHINES: Final = ("xid", "sxid", "kernel", "health")

#: Time that a watchdog had been waiting when it spoke. [ms]
_WAITED_MS: Final = r"ran for (\d{1,12}) milliseconds"

#: How long after a job's end its node may still tell of it: consoles are flushed and
#: processes torn down. The same reach as for attributing an interruption. [ns]
JOB_SLACK_NS: Final = 300 * 1_000_000_000


def group_lines(failures: pl.LazyFrame, gap_ns: int, spell_ns: int) -> pl.LazyFrame:
    """Bring lines of one GPU and code together that follow each other closely.

    Source: arXiv 2503.11901, section III: equal errors of a GPU within 5 s are one,
    and no longer than a day.

    Args:
        failures: Rows of Failures.
        gap_ns: Longest silence inside an event. [ns]
        spell_ns: Longest event; a longer spell is cut. [ns]

    Returns:
        A row for each event: the columns of SPELL, `first_ns`, `last_ns`, `onset_ns`,
        `lines`, `name`, `component`, `severity`, `action`, `role` and `undated`. A line
        without a time is an event of its own: its times are null, and `undated`
        numbers it among those that are alike.
    """
    waited = Failures.message.col.str.extract(_WAITED_MS).cast(pl.Int64) * 1_000_000
    lines = failures.with_columns(
        _onset_ns=pl.col("time_ns") - waited.fill_null(0), told_run_id="run_id"
    )
    dated = _number_spells(lines.drop_nulls("time_ns"), gap_ns, spell_ns)
    undated = lines.filter(pl.col("time_ns").is_null())
    alone = undated.sort(*SPELL, "boot_offset_ns", "message", "occurrence")
    number = pl.int_range(pl.len(), dtype=pl.Int64).over(SPELL)
    numbered = alone.with_columns(_spell=-1 - number, _piece=pl.lit(0, pl.Int64))
    columns = dated.collect_schema().names()
    return _sum_up(pl.concat([dated, numbered.select(columns)]))


def _number_spells(lines: pl.LazyFrame, gap_ns: int, spell_ns: int) -> pl.LazyFrame:
    silence = pl.col("time_ns").diff().over(SPELL, order_by="time_ns")
    words = pl.col("inferred").fill_null(value=False).cast(pl.Int8)
    before = words.shift(1, fill_value=0).over(SPELL, order_by="time_ns")
    longest = pl.when(words + before > 0).then(max(gap_ns, SAME_LOSS_NS))
    opens = (silence > longest.otherwise(gap_ns)).fill_null(value=True).cast(pl.Int64)
    spells = lines.with_columns(_opens=opens).with_columns(
        _spell=pl.col("_opens").cum_sum().over(SPELL, order_by="time_ns")
    )
    since = pl.col("time_ns") - pl.col("time_ns").min().over(*SPELL, "_spell")
    return spells.with_columns(_piece=since // spell_ns).drop("_opens")


def _sum_up(lines: pl.LazyFrame) -> pl.LazyFrame:
    is_told = pl.col("severity").is_not_null().any()
    worst = pl.when(is_told).then(severity_rank().min().cast(pl.Int64))
    words = dict(enumerate(SEVERITIES))
    events = lines.with_columns(role=code_role()).group_by(*SPELL, "_spell", "_piece")
    summed = events.agg(
        first_ns=pl.col("time_ns").min(),
        last_ns=pl.col("time_ns").max(),
        onset_ns=pl.col("_onset_ns").min(),
        lines=Failures.line_count.col.sum(),
        name=pl.col("name").min(),
        component=pl.col("component").min(),
        action=pl.col("action").min(),
        severity=worst.replace_strict(words, default=None, return_dtype=pl.String),
        role=pl.col("role").min(),
    )
    number = pl.when(pl.col("first_ns").is_null()).then(-1 - pl.col("_spell"))
    return summed.with_columns(undated=number).drop("_spell", "_piece")


def lay_to_gpu(events: pl.LazyFrame, jobs: pl.LazyFrame) -> pl.LazyFrame:
    """Make a defect of the application codes that one GPU repeats under two jobs.

    Args:
        events: Rows of `group_lines`.
        jobs: Nodes of jobs: `cluster`, `host`, `job_id`, `start_ns` and `end_ns`.

    Returns:
        The events, `role` and `component` corrected.
    """
    is_repeatable = (pl.col("source") == "xid") & pl.col("code").is_in(REPEATABLE)
    suspects = events.filter(is_repeatable).drop_nulls(["host", "gpu_key", "first_ns"])
    gpu = ["cluster", "host", "gpu_key"]
    placed = last_holder(suspects, jobs, JOB_SLACK_NS)
    repeats = placed.group_by(gpu).agg(pl.col("job_id").drop_nulls().n_unique())
    guilty = repeats.filter(pl.col("job_id") > 1).select(*gpu, _guilty=True)
    joined = events.join(guilty, on=gpu, how="left")
    is_defect = is_repeatable & pl.col("_guilty").fill_null(value=False)
    return joined.with_columns(
        role=pl.when(is_defect).then(pl.lit("root")).otherwise("role"),
        component=pl.when(is_defect)
        .then(pl.lit(DEFECT_COMPONENT))
        .otherwise("component"),
    ).drop("_guilty")


def accompanied(events: pl.DataFrame) -> pl.DataFrame:
    """Make a consequence of the application codes that a defect of the GPU is beside.

    Args:
        events: Events with the `chain` that each belongs to.

    Returns:
        The events, `role` corrected.
    """
    is_defect = (pl.col("role") == "root") & pl.col("source").is_in(_OF_MACHINES)
    is_beside = is_defect.any().over("chain", "gpu_key") & (pl.col("role") == "user")
    is_excused = is_beside & pl.col("code").is_in(REPEATABLE)
    role = pl.when(is_excused).then(pl.lit("cascade")).otherwise("role")
    return events.with_columns(role=role)
