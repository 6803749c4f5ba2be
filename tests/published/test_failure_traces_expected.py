"""Failure traces of others through the example mappings: what they must give.

Rows E001 to E041 (InfiniteHBD) and E057 to E068 (LANL) of the expected values, asked in
SQL as an owner would, each by its status: exact and rounded ones as they are printed,
the others as values to keep. `test_failures_expected_all` holds all of them in the
default suite.
"""

import io
import json
import re
from pathlib import Path
from typing import Any, Final

import duckdb
import polars as pl
import pytest

from ingest import mapping
from ingest.sources import Batch, Head, run_card
from ingest.tables import Failures, RunCards
from tests.ingest.readings import held, reading, records, refused, rows

pytestmark = pytest.mark.slow

#: 2024-03-30T00:00Z, from which the trace of InfiniteHBD counts its days. [ns]
BASE_NS: Final = 1_711_756_800_000_000_000

#: Statuses and how many of the rows have them.
STATUSES: Final = {
    "exact": 39,
    "rounded": 2,
    "computed_only": 5,
    "unverified_published": 7,
}

#: Causes of LANL as the rows name them, and as the mapping does.
CAUSES: Final = {
    "E059": "facilities",
    "E060": "hardware",
    "E061": "human",
    "E062": "network",
    "E063": "undetermined",
    "E064": "software",
}

#: Objects of the trace: a start and an end for each fault.
RECORDS: Final = 1_168

#: How many servers were watched, which the trace does not say.
CARD: Final = b"""
run_id = "infinitehbd"
cluster = "infinitehbd"
hardware = { gpus = 3200, gpus_per_node = 8 }
"""

OF_HBD: Final = "FROM failures WHERE cluster = 'infinitehbd'"

#: Failures, servers, days and rate, as an owner asks for them.
RATE: Final = f"""
SELECT *, round(1000.0 * faults / (servers * days), 3) AS rate FROM (
    SELECT count(*) AS faults,
        any_value(r.gpus // r.gpus_per_node) AS servers,
        (max(greatest(f.time_ns, f.end_ns)) - {BASE_NS}) // 86400000000000 AS days
    FROM failures f JOIN run_cards r USING (cluster))
"""

#: Time that nodes were out, overlapping faults of a node counted once.
UNAVAILABLE: Final = """
WITH edges AS (
    SELECT host, time_ns, end_ns, max(end_ns) OVER (PARTITION BY host ORDER BY time_ns,
        end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM failures WHERE cluster = 'infinitehbd')
SELECT sum(greatest(0, end_ns - greatest(time_ns, coalesce(before, time_ns))))
    / 86400e9 AS days FROM edges
"""

REPAIR: Final = """
SELECT count(*) AS n, round(100.0 * count(*) / 23739, 2) AS share,
    round(avg((end_ns - time_ns) / 6e10), 1) AS mean,
    median((end_ns - time_ns) / 6e10) AS middle,
    round(stddev_samp((end_ns - time_ns) / 6e10), 1) AS spread
FROM failures WHERE cluster LIKE 'lanl-%'
"""


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, dict[str, str]]:
    """Rows by their number."""
    path = shared / "expected" / "failures.tsv"
    frame = pl.read_csv(path, separator="\t", quote_char=None, infer_schema=False)
    return {row["id"]: row for row in frame.iter_rows(named=True)}


@pytest.fixture(scope="module")
def lake(shared: Path, project: Path) -> duckdb.DuckDBPyConnection:
    """Tables of both traces, each read through its example."""
    examples = project / "sample_traces" / "mappings"
    data = shared / "data" / "failures"
    (lanl,) = data.glob("Derek*/LA-UR*.csv")
    trace = data / "stepfun-ai+InfiniteHBD-Trace" / "fault_trace.json"
    lanls = through(examples / "lanl.toml", lanl, "any")
    faults = through(examples / "infinitehbd.toml", trace, "infinitehbd")
    assert not refused([*lanls, *faults])
    assert records(faults) == RECORDS
    cards = rows(run_card.SOURCE.read(io.BytesIO(CARD), reading()), RunCards)
    base = duckdb.connect()
    schema = pl.Schema({**pl.Schema(Failures), "place": pl.String()})
    both = [*rows(held(lanls), Failures), *rows(held(faults), Failures)]
    frame = pl.DataFrame(both, schema=schema)
    base.register("failures", frame.to_arrow(compat_level=pl.CompatLevel.oldest()))
    told = pl.DataFrame(cards, schema_overrides={"gpus": pl.Int64})
    base.register("run_cards", told.to_arrow(compat_level=pl.CompatLevel.oldest()))
    return base


def through(example: Path, path: Path, cluster: str) -> list[Batch]:
    """Read a file as an example says."""
    data = path.read_bytes()
    head = Head(path.name, data[:65_536])
    source = mapping.claim(head, [mapping.load(example)], None)
    assert source is not None
    return list(source.read(io.BytesIO(data), reading(cluster=cluster)))


def answer(lake: duckdb.DuckDBPyConnection, query: str) -> pl.DataFrame:
    return pl.DataFrame(lake.sql(query).to_arrow_table())


def one(lake: duckdb.DuckDBPyConnection, query: str) -> dict[str, Any]:
    return answer(lake, query).row(0, named=True)


def counts(lake: duckdb.DuckDBPyConnection, column: str) -> dict[str, int]:
    query = (
        f"SELECT {column}, count(*) FROM failures"
        " WHERE cluster = 'infinitehbd' GROUP BY 1"
    )
    return dict(answer(lake, query).iter_rows())


def numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"\d+\.\d+|\d+", text)]


def test_every_row_about_the_two_traces_is_known_by_its_status(
    expected: dict[str, dict[str, str]],
) -> None:
    mine = [
        row
        for row in expected.values()
        if "E001" <= row["id"] <= "E041" or "E057" <= row["id"] <= "E068"
    ]
    assert len(mine) == 53
    found = pl.Series([row["status"] for row in mine]).value_counts()
    assert dict(found.iter_rows()) == STATUSES


def test_counts_of_the_trace(
    lake: duckdb.DuckDBPyConnection, expected: dict[str, dict[str, str]]
) -> None:
    faults = one(lake, f"SELECT count(*) AS n {OF_HBD}")["n"]
    assert faults == int(expected["E001"]["published_value"])
    assert int(expected["E002"]["published_value"]) == RECORDS
    nodes = one(
        lake,
        "SELECT count(DISTINCT host) AS n, count(*) - count(end_ns) AS still_open"
        f" {OF_HBD}",
    )
    assert nodes["n"] == int(expected["E003"]["published_value"])
    assert nodes["still_open"] == 0


def test_days_servers_and_the_rate(
    lake: duckdb.DuckDBPyConnection, expected: dict[str, dict[str, str]]
) -> None:
    told = one(lake, RATE)
    assert told["faults"] == 584
    assert told["servers"] == 400
    assert told["days"] == int(expected["E004"]["published_value"])
    assert told["rate"] == float(expected["E041"]["computed_value"])
    assert round(told["rate"], 2) == 4.2  # 4.20 faults in 1000 node-days


def test_every_level_and_class(
    lake: duckdb.DuckDBPyConnection, expected: dict[str, dict[str, str]]
) -> None:
    found = {"Class": counts(lake, "name")}
    levels = counts(lake, "message")
    found["Level"] = {name.removesuffix(" Failure"): n for name, n in levels.items()}
    checked = 0
    for number in range(5, 39):
        row = expected[f"E{number:03}"]
        kind, _, rest = row["statistic"].partition("=")
        name, _, what = rest.rpartition(" ")
        count = found[kind][name]
        value = count if what == "count" else round(100 * count / 584, 2)
        assert value == float(row["published_value"]), row
        checked += 1
    assert checked == 34


def test_every_cell_of_the_statistics(
    lake: duckdb.DuckDBPyConnection, shared: Path
) -> None:
    (path,) = (shared / "data" / "failures").glob("stepfun*/fault_statistics.json")
    published = {
        (level, class_, what): count
        for level, classes in json.loads(path.read_text()).items()
        for class_, cells in classes.items()
        if class_ != "LevelTotal"
        for what, count in cells.items()
        if what != "ClassTotal"
    }
    query = (
        "SELECT message, name, code, count(*) FROM failures"
        " WHERE cluster = 'infinitehbd' GROUP BY ALL"
    )
    found = {row[:3]: row[3] for row in answer(lake, query).iter_rows()}
    assert found == published
    assert len(published) == 40


def test_the_time_that_nodes_were_out(
    lake: duckdb.DuckDBPyConnection, expected: dict[str, dict[str, str]]
) -> None:
    days, of, percent = numbers(expected["E040"]["computed_value"])
    found = float(one(lake, UNAVAILABLE)["days"])
    assert round(found, 2) == days
    assert round(100 * found / (400 * 348), 2) == percent
    assert of == 400 * 348


def test_records_and_systems_of_lanl(
    lake: duckdb.DuckDBPyConnection, expected: dict[str, dict[str, str]]
) -> None:
    told = one(
        lake,
        "SELECT count(*) AS n, count(DISTINCT cluster) AS systems,"
        " count(*) FILTER (component IS NULL) AS without,"
        " count(*) FILTER (occurrence > 0) AS again"
        " FROM failures WHERE cluster LIKE 'lanl-%'",
    )
    assert told["n"] == int(expected["E057"]["computed_value"]) == 23_739
    assert told["n"] // 1000 * 1000 == int(expected["E057"]["published_value"])
    assert told["systems"] == int(expected["E058"]["computed_value"])
    assert told["systems"] > 20
    assert told["without"] == int(expected["E066"]["computed_value"])
    assert told["again"] == int(expected["E067"]["computed_value"])


@pytest.mark.parametrize(("number", "component"), CAUSES.items())
def test_repair_times_by_cause(
    lake: duckdb.DuckDBPyConnection,
    expected: dict[str, dict[str, str]],
    number: str,
    component: str,
) -> None:
    told = one(lake, f"{REPAIR} AND component = '{component}'")
    assert list(told.values()) == numbers(expected[number]["computed_value"])


def test_repair_times_of_all(
    lake: duckdb.DuckDBPyConnection, expected: dict[str, dict[str, str]]
) -> None:
    told = one(lake, REPAIR)
    found = [told["mean"], told["middle"], told["spread"]]
    assert found == numbers(expected["E065"]["computed_value"])


def differences(text: str, data: bytes, name: str) -> dict[int, int]:
    """Count minutes of the trace's own Down Time beside those between the stamps."""
    found = mapping.parse(text.encode(), "lanl.toml")
    head = Head(name, data[:65_536])
    source = mapping.claim(head, [found], None)
    assert source is not None
    frame = pl.DataFrame(rows(source.read(io.BytesIO(data), reading()), Failures))
    minutes = (pl.col("end_ns") - pl.col("time_ns")) // (60 * 10**9)
    down = pl.col("message").str.extract(r"down for (\d+) min").cast(pl.Int64)
    return dict(frame.select(down - minutes).to_series().value_counts().iter_rows())


def test_a_zone_mends_repairs_that_are_an_hour_off(
    shared: Path, project: Path, expected: dict[str, dict[str, str]]
) -> None:
    (path,) = (shared / "data" / "failures").glob("Derek*/LA-UR*.csv")
    text = (project / "sample_traces" / "mappings" / "lanl.toml").read_text()
    data = path.read_bytes()
    # without a zone, clocks that went back or forth make an hour
    naive = differences(text.replace("America/Denver", "UTC"), data, path.name)
    keys = (-1, 60, -60, 0)
    assert [naive[key] for key in keys] == numbers(expected["E068"]["computed_value"])
    # with it, all 24 are right; what is left is the rounding of the source
    assert differences(text, data, path.name) == {-1: 399, 0: 23_340}
    # the first of two instants that are called alike would be wrong twice
    first = text.replace('repeated = "latest"', 'repeated = "earliest"')
    wrong = differences(first, data, path.name)
    assert wrong == {-1: 399, 0: 23_338, 60: 1, -60: 1}
