"""Attempts and requeues of real listings of Slurm's accounting.

The file `midnight-edge-case` holds 306 jobs with 880 steps, of which 68 end after their
job (rows E084 and E085 of the expected values); two jobs were requeued.
"""

import random
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis import QUESTIONS, Frames
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.interruptions import Interruptions
from ingest.sources import sacct
from ingest.tables import Jobs, RunCards, Table
from ingest.times import SECOND_NS
from tests.analysis.ledgers import rows as rows_of
from tests.ingest.readings import held, read_lines, rows

GCM = "data/failures/facebookresearch+gcm"
MIDNIGHT = "sample-sacct-output-midnight-edge-case.txt"
REQUEUED = "39326011"

Row = dict[str, Any]


@cache
def lines_of(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8", errors="replace").splitlines())


def jobs_of(lines: tuple[str, ...]) -> list[Row]:
    return rows(held(read_lines(sacct.SOURCE, *lines)), Jobs)


def framed(jobs: list[Row], run_of: str | None = None) -> pl.DataFrame:
    """Jobs, each the only one of a run, or all of one run."""
    told = [job | {"run_id": run_of or job["job_id"]} for job in jobs]
    schema = Jobs.create_empty().schema
    columns = {name: [job.get(name) for job in told] for name in schema}
    return pl.DataFrame(columns, schema=schema)


def analysed(jobs: pl.DataFrame) -> Frames:
    tables: dict[type[Table], pl.LazyFrame] = {Jobs: jobs.lazy()}
    wanted = ("attempts", "runs", "gpus", "allocations", "incidents", "interruptions")
    for one in QUESTIONS:
        if one.name in wanted:
            found = one.compute(Frames(tables), one.thresholds)
            tables |= {table: frame.lazy() for table, frame in found.items()}
    return Frames(tables)


def at(text: str) -> int:
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return int(moment.timestamp()) * SECOND_NS


def test_each_job_of_the_listing_is_an_attempt_that_ends_with_it(shared: Path) -> None:
    jobs = jobs_of(lines_of(shared / GCM / MIDNIGHT))
    frames = analysed(framed(jobs))
    attempts = frames[Attempts].select("job_id", "start_ns", "end_ns").collect()
    assert attempts.height == 306
    told = {job["job_id"]: (job["start_ns"], job["end_ns"]) for job in jobs}
    assert {job: (start, end) for job, start, end in attempts.iter_rows()} == told
    # the step 39326011.0 ends at 23:58:52, the job at 23:57:36
    assert told[REQUEUED][1] == at("2021-04-07T23:57:36")


def test_stops_of_the_listing_by_whose_they_are(shared: Path) -> None:
    frames = analysed(framed(jobs_of(lines_of(shared / GCM / MIDNIGHT))))
    columns = ("category", "planned", "cause", "cancelled_by")
    stops = frames[Interruptions].select(columns).collect().rows()
    counts = Counter((category, planned) for category, planned, _, _ in stops)
    assert counts == {
        ("unattributed", False): 259 + 2,  # FAILED and REQUEUED
        ("user", True): 24,  # CANCELLED by a user
        ("user", False): 2,  # OUT_OF_MEMORY
        ("scheduler", True): 1,  # TIMEOUT
    }
    users = {by: cause for _, _, cause, by in stops if by}
    assert users == {
        by: f"job state CANCELLED by user {by}" for by in ("1185300516", "1185200358")
    }


def test_jobs_that_never_started_take_no_time(shared: Path) -> None:
    # the short listing tells ends alone: three jobs were cancelled
    name = MIDNIGHT.replace(".txt", "-small.txt")
    jobs = jobs_of(lines_of(shared / GCM / name))
    assert [job["state"] for job in jobs] == ["CANCELLED"] * 3
    frames = analysed(framed(jobs, "run"))
    assert frames[Attempts].collect().is_empty()
    assert frames[Allocations].collect().is_empty()
    assert frames[Interruptions].collect().is_empty()


@pytest.mark.parametrize("seed", range(3))
def test_a_requeued_job_is_a_chain_of_attempts(shared: Path, seed: int) -> None:
    # the listing, and two later starts of the same job as `sacct -D` tells them:
    #   39326011 REQUEUED 04-05 03:34:18 to 04-07 23:57:36
    #            FAILED   04-08 00:10:00 to 04-08 01:00:00, its step until 01:01:00
    #            RUNNING  04-08 01:05:00 to Unknown
    header, *listed = lines_of(shared / GCM / MIDNIGHT)
    mine = [line for line in listed if line.startswith(REQUEUED)]
    mine += [
        f"{REQUEUED}|FAILED|2021-04-08T00:10:00|2021-04-08T01:00:00",
        f"{REQUEUED}.0|FAILED|2021-04-08T00:10:00|2021-04-08T01:01:00",
        f"{REQUEUED}|RUNNING|2021-04-08T01:05:00|Unknown",
    ]
    random.Random(seed).shuffle(mine)
    jobs = jobs_of((header, *mine))
    frames = analysed(framed(jobs, "run"))
    columns = ("attempt", "job_id", "state", "restart_count", "is_running")
    assert frames[Attempts].select(columns).collect().rows() == [
        (0, REQUEUED, "REQUEUED", 0, False),
        (1, REQUEUED, "FAILED", 1, False),
        (2, REQUEUED, "RUNNING", 2, True),
    ]
    stops = frames[Interruptions].select("attempt", "planned", "decided_ns").collect()
    assert stops.rows() == [
        (0, False, at("2021-04-07T23:57:36")),
        (1, False, at("2021-04-08T01:00:00")),
    ]


def test_a_lost_job_of_which_nothing_was_seen_takes_no_time() -> None:
    lines = (
        "JobID|State|Start|End",
        "7|RUNNING|2021-04-08T00:00:00|Unknown",
        "8|FAILED|2021-04-08T01:00:00|2021-04-08T02:00:00",
    )
    frames = analysed(framed(jobs_of(lines), "run"))
    first, _ = frames[Attempts].collect().to_dicts()
    assert (first["end_ns"], first["is_running"]) == (first["start_ns"], False)
    lost, _ = frames[Interruptions].collect().to_dicts()
    assert lost["cause"].endswith("its end is lost")


def test_gpus_of_a_requeued_job_are_paid_for_while_it_ran(shared: Path) -> None:
    # job 201844 of the listing over several lines: 256 GPUs for 87,356 s, requeued
    lines = lines_of(shared / GCM / "sample-sacct-one-multiline.txt")
    (job,) = [job for job in jobs_of(lines) if job["job_id"] == "201844"]
    frames = analysed(framed([job], "run"))
    length = pl.col("to_ns") - pl.col("from_ns")
    paid = frames[Allocations].select(length.sum()).collect().item()
    assert paid == 256 * 87_356 * SECOND_NS


def test_a_card_chains_jobs_of_other_numbers(shared: Path) -> None:
    jobs = jobs_of(lines_of(shared / GCM / MIDNIGHT))
    nameless = framed(jobs).with_columns(run_id=pl.lit(None, pl.String))
    card = rows_of(RunCards, {"job_ids": "38872175, 39631207_4", "cluster": None})
    frames = Frames({Jobs: nameless.lazy(), RunCards: card})
    one = next(one for one in QUESTIONS if one.name == "attempts")
    found = one.compute(frames, one.thresholds)[Attempts]
    assert found.select("job_id", "state").rows() == [
        ("38872175", "REQUEUED"),
        ("39631207_4", "CANCELLED"),
    ]
