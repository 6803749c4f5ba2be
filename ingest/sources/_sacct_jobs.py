"""Rows of Jobs from the records of sacct."""

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from ingest.sources._sacct_hosts import NO_NODE, expand
from ingest.sources._sacct_records import Header, Records
from ingest.sources._source import RAW_CHARACTERS, Batch, Reading, Refusal
from ingest.tables import Jobs
from ingest.times import SECOND_NS, naive_to_ns

#: Fields that are read; the others of the file are skipped.
FIELDS: Final = (
    "JobID",
    "JobIDRaw",
    "JobName",
    "State",
    "Submit",
    "Eligible",
    "Start",
    "End",
    "ExitCode",
    "NodeList",
    "NNodes",
    "AllocNodes",
    "AllocTRES",
    "ReqTRES",
    "Restarts",
    "Reason",
    "QOS",
    "Account",
)

#: Words that stand for a time that is not there.
_NO_TIME: Final = ("", "Unknown", "None", "N/A")

#: Stamps of sacct, in years whose nanoseconds fit 64 bits; or seconds since the epoch,
#: where SLURM_TIME_FORMAT was set to %s.
_STAMP: Final = r"^(?:19[7-9]|20\d|21\d)\d-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$"
_EPOCH: Final = r"^\d{9,10}$"

_TIMES: Final = {
    "submit_ns": "Submit",
    "eligible_ns": "Eligible",
    "start_ns": "Start",
    "end_ns": "End",
}


def jobs_of(
    records: Records, header: Header, reading: Reading
) -> tuple[Batch, pl.DataFrame]:
    """Return the jobs among some records, and a batch of all the rest."""
    fields = _split(records.frame, header)
    jobs = fields.filter(~pl.col("JobID").str.contains(".", literal=True))
    rows = _placed(_listed(jobs), reading)
    refused = rows.filter(pl.col("rule").is_not_null())
    batch = Batch(
        refused=(*records.refused, *_refusals(refused)),
        records=len(fields) + len(records.refused),
        repairs=records.repairs,
        zone_used=bool(rows["naive"].any()),
    )
    return batch, rows.filter(pl.col("rule").is_null()).drop("rule", "naive", "raw")


def _refusals(rows: pl.DataFrame) -> Iterator[Refusal]:
    for place, rule, raw in rows.select("place", "rule", "raw").iter_rows():
        yield Refusal(Jobs, place, rule, raw)


def _split(frame: pl.DataFrame, header: Header) -> pl.DataFrame:
    """Return the fields that are read, null where the file does not have one."""
    parts = pl.col("text").str.split(header.delimiter)
    position = {name: index for index, name in reversed([*enumerate(header.names)])}
    columns = [
        parts.list.get(position[name]).str.strip_chars().alias(name)
        if name in position
        else pl.lit(None, pl.String).alias(name)
        for name in FIELDS
    ]
    raw = pl.col("text").str.head(RAW_CHARACTERS).alias("raw")
    split = frame.select("number", raw, *columns)
    return split.with_columns(JobID=pl.coalesce("JobID", "JobIDRaw"))


def _listed(jobs: pl.DataFrame) -> pl.DataFrame:
    """Add `hosts`, each list expanded once; null and `bad_hosts` where it is none."""
    lists = [text for text in jobs["NodeList"].unique() if text is not None]
    known = {text: expand(text) for text in lists if text not in NO_NODE}
    hosts = pl.col("NodeList").replace_strict(
        list(known), list(known.values()), default=None, return_dtype=pl.String
    )
    bad = [text for text, names in known.items() if names is None]
    return jobs.with_columns(hosts=hosts, bad_hosts=pl.col("NodeList").is_in(bad))


def _placed(jobs: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return rows of Jobs with `place`, `rule` (why refused), `naive` and `raw`."""
    stamps = {
        name: pl.when(~pl.col(field).is_in(_NO_TIME)).then(pl.col(field))
        for name, field in _TIMES.items()
    }
    naive = pl.any_horizontal(
        stamp.str.contains("T").fill_null(value=False) for stamp in stamps.values()
    )
    timed = jobs.with_columns(
        *(_instant(stamp, reading).alias(name) for name, stamp in stamps.items()),
        naive=naive,
    )
    assumed = pl.col("naive") & (reading.zone_basis == "assumed")
    return timed.select(
        *_columns(reading),
        *_TIMES,
        "hosts",
        "naive",
        "raw",
        time_quality=pl.when(assumed)
        .then(pl.lit("zone_assumed"))
        .otherwise(pl.lit("exact")),
        place=pl.format("line {}", "number"),
        rule=_rule(stamps),
    )


def _rule(stamps: Mapping[str, pl.Expr]) -> pl.Expr:
    """Return the rule that a job breaks, null where it breaks none."""
    wrong_time = pl.any_horizontal(
        stamps[name].is_not_null() & pl.col(name).is_null() for name in _TIMES
    )
    return (
        pl.when(pl.col("JobID").fill_null("") == "")
        .then(pl.lit("job_id_missing"))
        .when(pl.col("State").fill_null("") == "")
        .then(pl.lit("state_missing"))
        .when(wrong_time)
        .then(pl.lit("time"))
        .when(pl.col("bad_hosts").fill_null(value=False))
        .then(pl.lit("node_list"))
    )


def _instant(stamp: pl.Expr, reading: Reading) -> pl.Expr:
    """Return the instant of a stamp, null where it is none. [ns]"""
    naive = pl.when(stamp.str.contains(_STAMP)).then(stamp)
    moment = naive.str.to_datetime("%Y-%m-%dT%H:%M:%S", strict=False)
    epoch = pl.when(stamp.str.contains(_EPOCH)).then(stamp).cast(pl.Int64)
    return pl.coalesce(naive_to_ns(moment, reading.zone), epoch * SECOND_NS)


def _columns(reading: Reading) -> list[pl.Expr]:
    """Return the columns of Jobs that are neither times nor nodes."""
    state = pl.col("State").str.extract(r"^([^\s+]+)")
    ended = pl.col("ExitCode").str.extract_groups(r"^(\d{1,9}):(\d{1,9})$")
    return [
        pl.lit(reading.cluster).alias("cluster"),
        _run(reading).alias("run_id"),
        pl.col("JobID").alias("job_id"),
        pl.col("JobName").alias("job_name"),
        _whole("Restarts").fill_null(0).alias("restart_count"),
        state.alias("state"),
        ended.struct[0].cast(pl.Int64).alias("exit_code"),
        ended.struct[1].cast(pl.Int64).alias("exit_signal"),
        _word("Reason").alias("reason"),
        _word("QOS").alias("qos"),
        _word("Account").alias("account"),
        pl.coalesce(_whole("NNodes"), _whole("AllocNodes")).alias("node_count"),
        pl.coalesce(_gpus("AllocTRES"), _gpus("ReqTRES")).alias("gpu_count"),
        pl.col("State").str.extract(r"^CANCELLED by (\S+)").alias("cancelled_by"),
    ]


def _run(reading: Reading) -> pl.Expr:
    """Return the run of a job that is called like it, where the run was declared."""
    if reading.run_id_basis == "folder":
        return pl.lit(None, pl.String)
    return pl.when(pl.col("JobName") == reading.run_id).then(pl.lit(reading.run_id))


def _whole(field: str) -> pl.Expr:
    return pl.col(field).str.extract(r"^(\d{1,9})$").cast(pl.Int64)


def _word(field: str) -> pl.Expr:
    return pl.when(~pl.col(field).is_in(["", "None"])).then(pl.col(field))


def _gpus(field: str) -> pl.Expr:
    """Return the GPUs of a list of resources, over all models where need be."""
    every = pl.col(field).str.extract(r"(?:^|,)gres/gpu=(\d{1,9})").cast(pl.Int64)
    by_model = pl.col(field).str.extract_all(r"(?:^|,)gres/gpu:[^=,]+=\d{1,9}")
    numbers = by_model.list.eval(
        pl.element().str.extract(r"=(\d{1,9})$").cast(pl.Int64)
    )
    summed = pl.when(by_model.list.len() > 0).then(numbers.list.sum())
    return pl.coalesce(every, summed)
