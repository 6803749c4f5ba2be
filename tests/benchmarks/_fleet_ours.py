"""One stage of the main job over a generated fleet; print what it took as JSON.

python _fleet_ours.py generate FOLDER HOSTS HOURS KIND
python _fleet_ours.py ingest FOLDER LAKE
python _fleet_ours.py analyze LAKE
python _fleet_ours.py report LAKE FILE
python _fleet_ours.py queries LAKE
python _fleet_ours.py traces FOLDER COUNT BYTES

Each stage is run as a program of its own, so that its peak of memory is its own; what
it imports is imported before time is taken.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _peak import peak_mb  # type: ignore[import-not-found]

from ingest.catalog import open_catalog, run_query
from ingest.synthetic.cluster.cluster import cluster_of
from ingest.synthetic.cluster.scenario import Fault, Fleet, Layout, Model, Scenario
from ingest.synthetic.cluster.write_raw import RawOptions, write_raw
from ingest.synthetic.cluster.write_traces import (
    TracePlace,
    made_template,
    write_traces,
)
from pipeline import analyzing, reporting, rolling, steps
from pipeline.cli import run_tokens

Told = dict[str, float]

#: When traces start. [ns]
NOON_NS = 1_772_452_800 * 10**9

#: What commands would import when they are run: it is in none of their times.
LOADED = (reporting, steps)

#: Questions that README's cookbook answers, over result tables.
QUERIES = (
    "SELECT category, sum(gpu_ns) / 3.6e12 FROM lost_time GROUP BY 1 ORDER BY 2 DESC",
    "SELECT run_id, sum(gpu_ns) FROM lost_time GROUP BY 1 ORDER BY 1",
    "SELECT * FROM straggler_ranks ORDER BY 1 LIMIT 20",
    "SELECT * FROM interruptions ORDER BY 1 LIMIT 20",
    "SELECT host, count(*) FROM gpus GROUP BY 1 ORDER BY 1 LIMIT 20",
)


def timed(work: Callable[[], Any]) -> Told:
    """Do something and return the time it took, on the clock and of the processor."""
    began, cpu_began = time.perf_counter(), cpu()
    work()
    return {"total_s": time.perf_counter() - began, "cpu_s": cpu() - cpu_began}


def cpu() -> float:
    """Return the processor time of this program and of those it waited for. [s]"""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(one) for one in both]
    return sum(one.ru_utime + one.ru_stime for one in used)


def generate(folder: str, hosts: str, hours: str, kind: str) -> Told:
    """Write the steps and the power of a run with a capped GPU."""
    ranks = int(hosts) * 8
    scenario = Scenario(
        fleet=Fleet(hosts=int(hosts)),
        layout=Layout(tp=8, dp=ranks // 8),
        model=Model(tokens_per_step=ranks // 8 * 4 * 8_192),
        faults=(Fault(kind="power_cap", rank=5, from_s=3_000, length_s=6_000),),
    )
    cluster = cluster_of(scenario)
    begun = scenario.begun_ns
    span = (begun, begun + round(float(hours) * 3.6e12))
    rows: Told = {}

    def work() -> None:
        options = RawOptions(steps=kind, power=kind == "parquet")  # type: ignore[arg-type]
        written = write_raw(Path(folder), cluster, span, options)
        rows.update(steps=written.steps, power=written.power)

    return timed(work) | {"rows": sum(rows.values()), **rows}


def command(*tokens: str) -> Told:
    """Run a command of the product."""

    def work() -> None:
        code = run_tokens([*tokens, "--quiet"])
        if code not in {0, 3}:
            message = f"{tokens}: {code}"
            raise RuntimeError(message)

    return timed(work)


def analyze(lake: str) -> Told:
    """Answer every question, all owners by day; time each question."""
    told: Told = {}
    ask, roll = analyzing._compute, rolling.Rolling.condense

    def asked(analysis: Any, *rest: Any) -> None:
        told[f"{analysis.name}_s"] = timed(lambda: ask(analysis, *rest))["cpu_s"]

    def rolled(self: Any, *rest: Any) -> int:
        found: list[int] = []
        took = timed(lambda: found.append(roll(self, *rest)))
        name = f"{self.rollup.name}_s"
        told[name] = told.get(name, 0.0) + took["cpu_s"]
        return found[0]

    analyzing._compute = asked  # type: ignore[assignment]
    rolling.Rolling.condense = rolled  # type: ignore[assignment,method-assign]
    os.environ["GPULEDGER_BY_DAY_ROWS"] = "0"
    return command("analyze", "--lake", lake) | told


def queries(lake: str) -> Told:
    """Ask the catalog."""

    def work() -> None:
        with open_catalog(Path(lake)) as connection:
            for query in QUERIES:
                run_query(connection, query).fetchall()

    return timed(work)


def traces(folder: str, count: str, size: str) -> Told:
    """Write traces of some ranks, each made of the same one."""
    template = made_template(1, size=int(size))

    def work() -> None:
        write_traces(
            Path(folder),
            template,
            (
                TracePlace(rank, int(count), 40_000 + rank, "node", NOON_NS + rank)
                for rank in range(int(count))
            ),
        )

    return timed(work)


STAGES: dict[str, Callable[..., Told]] = {
    "generate": generate,
    "ingest": lambda folder, lake: command("ingest", folder, "--lake", lake),
    "analyze": analyze,
    "report": lambda lake, file: command("report", "--lake", lake, "-o", file),
    "queries": queries,
    "traces": traces,
}

if __name__ == "__main__":
    told = STAGES[sys.argv[1]](*sys.argv[2:])
    told["peak_mb"] = peak_mb()
    sys.stdout.write("\n" + json.dumps(told))
