"""Rows of Jobs from the records of sacct."""

import polars as pl

from ingest.phrases import phrase
from ingest.sources._slurm.fields import FIELDS
from ingest.sources._slurm.jobs import job_rows
from ingest.sources._slurm.sacct_records import Header, Records
from ingest.sources._source import RAW_CHARACTERS, Batch, Reading


def jobs_of(
    records: Records, header: Header, reading: Reading
) -> tuple[Batch, pl.DataFrame]:
    """Return the jobs among some records, and a batch of all the rest."""
    fields = split(records.frame, header)
    jobs = fields.filter(~pl.col("JobID").str.contains(".", literal=True))
    made = job_rows(jobs, reading)
    batch = Batch(
        refused=(*records.refused, *made.refused),
        records=len(fields) + len(records.refused),
        repairs=records.repairs,
        zone_used=made.zone_used,
    )
    return batch, made.rows


def split(frame: pl.DataFrame, header: Header) -> pl.DataFrame:
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
    place = phrase("line {}", "number").alias("place")
    found = frame.select(place, raw, *columns)
    return found.with_columns(JobID=pl.coalesce("JobID", "JobIDRaw"))
