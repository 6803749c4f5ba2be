"""What the product makes of the files behind the expected values, row by row.

Each answer is written as the list of expected values writes it, from rows that went
through the product's own readers.
"""

import io
import json
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from analysis.gap_models import weibull
from ingest import mapping
from ingest.sources import Head
from ingest.tables import Failures
from ingest.times import DAY_NS
from tests.ingest.readings import held, reading, records, refused, rows

MINUTE_NS: Final = 60 * 10**9

#: 2024-03-30T00:00Z, from which the trace of InfiniteHBD counts its days. [ns]
BASE_NS: Final = 1_711_756_800_000_000_000

#: Nodes of InfiniteHBD, which its trace does not say.
NODES: Final = 400

#: Causes of LANL by the row of their repair times.
REPAIRS: Final = {
    "E059": "facilities",
    "E060": "hardware",
    "E061": "human",
    "E062": "network",
    "E063": "undetermined",
    "E064": "software",
}


def through(example: Path, path: Path) -> pl.DataFrame:
    """Read a file as its example mapping says; nothing is refused."""
    data = path.read_bytes()
    head = Head(path.name, data[:65_536])
    source = mapping.claim(head, [mapping.load(example)], None)
    assert source is not None
    batches = held(source.read(io.BytesIO(data), reading(cluster="infinitehbd")))
    assert not refused(batches)
    schema = pl.Schema({**pl.Schema(Failures), "place": pl.String()})
    frame = pl.DataFrame(rows(batches, Failures), schema=schema)
    return frame.with_columns(seen=pl.lit(records(batches)))


def infinite_hbd(shared: Path, project: Path) -> dict[str, str]:
    """Answers E001 to E041."""
    folder = shared / "data/failures/stepfun-ai+InfiniteHBD-Trace"
    example = project / "sample_traces/mappings/infinitehbd.toml"
    found = through(example, folder / "fault_trace.json")
    days = (found.select(pl.max_horizontal("time_ns", "end_ns").max()).item()
            - BASE_NS) // DAY_NS  # fmt: skip
    answers = {
        "E001": f"{found.height}",
        "E002": f"{found['seen'][0]}",
        "E003": f"{found['host'].n_unique()}",
        "E004": f"{days}",
        "E039": f"{_cells(found, folder)} cells differ",
        "E040": _unavailable(found, days),
        "E041": f"{1000 * found.height / (NODES * days):.3f}",
    }
    return answers | _levels(found)


def _levels(found: pl.DataFrame) -> dict[str, str]:
    """Count each level and class, in the order of the list: most frequent first."""
    level = pl.col("message").str.strip_suffix(" Failure")
    answers: dict[str, str] = {}
    for kind, column in (("Level", level), ("Class", pl.col("name"))):
        for name, count in found.select(column).to_series().value_counts().iter_rows():
            share = round(100 * count / found.height, 2)
            answers[f"{kind}={name} count"] = f"{count}"
            answers[f"{kind}={name} %"] = f"{share:g}"
    return answers


def _cells(found: pl.DataFrame, folder: Path) -> int:
    told = json.loads((folder / "fault_statistics.json").read_text())
    published = {
        (level, kind, what): count
        for level, kinds in told.items()
        for kind, cells in kinds.items()
        if kind != "LevelTotal"
        for what, count in cells.items()
        if what != "ClassTotal"
    }
    assert len(published) == 40
    counted = found.group_by("message", "name", "code").len()
    cells = {row[:3]: row[3] for row in counted.iter_rows()}
    return len({*published.items()} ^ {*cells.items()})


def _unavailable(found: pl.DataFrame, days: int) -> str:
    from analysis.intervals import union_ns

    renamed = found.rename({"time_ns": "start_ns"})
    out = renamed.group_by("host").agg(out=union_ns())["out"].sum() / DAY_NS
    return f"{out:.2f} / {NODES * days} = {100 * out / (NODES * days):.2f} %"


def los_alamos(shared: Path, project: Path) -> dict[str, str]:
    """Answers E057 to E069."""
    (path,) = (shared / "data/failures").glob("Derek*/LA-UR*.csv")
    example = project / "sample_traces/mappings/lanl.toml"
    found = through(example, path)
    minutes = (pl.col("end_ns") - pl.col("time_ns")) / MINUTE_NS
    timed = found.with_columns(minutes=minutes)
    answers = {
        number: _repair(timed.filter(component=cause), found.height)
        for number, cause in REPAIRS.items()
    }
    return answers | {
        "E057": f"{found.height}",
        "E058": f"{found['cluster'].n_unique()}",
        "E065": _spread(timed),
        "E066": f"{found['component'].null_count()}",
        "E067": f"{found.filter(pl.col('occurrence') > 0).height}",
        "E068": _naive(found),
        "E069": _gaps(found.filter(cluster="lanl-20")),
    }


def _repair(of_cause: pl.DataFrame, total: int) -> str:
    share = 100 * of_cause.height / total
    return f"{of_cause.height}, {share:.2f} %, {_spread(of_cause)}"


def _spread(timed: pl.DataFrame) -> str:
    mean, middle, spread = timed.select(
        mean=pl.col("minutes").mean(),
        middle=pl.col("minutes").median(),
        spread=pl.col("minutes").std(),
    ).row(0)
    return f"{mean:.1f}/{middle:.0f}/{spread:.1f}"


def _naive(found: pl.DataFrame) -> str:
    """Count minutes of the trace's own Down Time beside those that clocks would say."""
    down = pl.col("message").str.extract(r"down for (\d+) min").cast(pl.Int64)
    start, end = (
        pl.from_epoch(column, time_unit="ns")
        .dt.replace_time_zone("UTC")
        .dt.convert_time_zone("America/Denver")
        .dt.replace_time_zone(None)
        for column in ("time_ns", "end_ns")
    )
    wall = (end - start).dt.total_minutes()
    counts = dict(found.select(down - wall).to_series().value_counts().iter_rows())
    return " / ".join(f"{counts[minutes]}" for minutes in (-1, 60, -60, 0))


def _gaps(of_system: pl.DataFrame) -> str:
    instants = of_system["time_ns"].sort().to_numpy()
    gaps = np.diff(instants).astype(np.float64)
    fit = weibull(gaps, np.array([]))
    assert fit is not None
    assert fit.high < 1
    zero = 100 * float((gaps == 0).mean())
    return f"shape {fit.shape:.4f}, n={gaps.size} gaps, {zero:.1f} % zero gaps"
