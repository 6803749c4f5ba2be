"""Recorded power as what dcgm-exporter prints, scrape after scrape, a file per node."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from ingest.synthetic.cluster._power_frame import PowerFrames
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.power import Recorded


class Metric(NamedTuple):
    """A metric as the exporter prints it.

    Attributes:
        name: Its name.
        kind: Its type.
        help: What it is.
        value: Its value as text.
    """

    name: str
    kind: str
    help: str
    value: pl.Expr


def _whole(column: str) -> pl.Expr:
    return pl.col(column).round().cast(pl.Int64).cast(pl.String)


def _watts(column: str) -> pl.Expr:
    """Return watts with six decimals, of which the sensor gives one."""
    tenths = (pl.col(column) * 10).round().cast(pl.Int64)
    return pl.concat_str(tenths // 10, pl.lit("."), tenths % 10, pl.lit("00000"))


#: What a node's exporter is set up to print.
METRICS: Final = (
    Metric(
        "DCGM_FI_DEV_SM_CLOCK",
        "gauge",
        "SM clock frequency (in MHz).",
        _whole("sm_clock_mhz"),
    ),
    Metric(
        "DCGM_FI_DEV_GPU_TEMP",
        "gauge",
        "GPU temperature (in C).",
        _whole("temperature_c"),
    ),
    Metric(
        "DCGM_FI_DEV_POWER_USAGE",
        "gauge",
        "Power draw (in W).",
        _watts("power_average_w"),
    ),
    Metric(
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "counter",
        "Total energy consumption since boot (in mJ).",
        _whole("energy_mj"),
    ),
    Metric(
        "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS",
        "gauge",
        "Reasons for a lowered clock (bits).",
        _whole("throttle_reasons"),
    ),
    Metric(
        "DCGM_FI_DEV_POWER_VIOLATION",
        "counter",
        "Throttling duration due to power constraints (in ns).",
        _whole("throttle_power_ns"),
    ),
    Metric(
        "DCGM_FI_DEV_THERMAL_VIOLATION",
        "counter",
        "Throttling duration due to thermal constraints (in ns).",
        _whole("throttle_thermal_ns"),
    ),
    Metric(
        "DCGM_FI_DEV_XID_ERRORS",
        "gauge",
        "Value of the last XID error encountered.",
        _whole("last_xid"),
    ),
)

_LABELS: Final = (
    'gpu="{local}",UUID="{uuid}",pci_bus_id="0000{bus}.0",device="nvidia{local}"'
    ',modelName="NVIDIA H100 80GB HBM3",Hostname="{host}"'
)


def write_scrapes(
    folder: Path, cluster: Cluster, frames: PowerFrames, recorded: Iterable[Recorded]
) -> int:
    """Add to a file of each node; return the samples. [1]"""
    folder.mkdir(parents=True, exist_ok=True)
    labels = _labels(cluster)
    written = 0
    for one in recorded:
        for make in frames.makers(one):
            frame = make()
            written += frame.height
            for (host,), rows in frame.partition_by("host", as_dict=True).items():
                _write(folder / f"{host}.prom", rows.join(labels, on="gpu_uuid"))
    return written


def _labels(cluster: Cluster) -> pl.DataFrame:
    """Return the labels of each GPU, as text."""
    gpus = cluster.fleet.gpus.select("gpu_uuid", "local_rank", "host", "pci_address")
    texts = [
        _LABELS.format(local=local, uuid=uuid, bus=bus.upper(), host=host)
        for uuid, local, host, bus in gpus.iter_rows()
    ]
    return gpus.select("gpu_uuid", "local_rank", labels=pl.Series(texts))


def _write(path: Path, rows: pl.DataFrame) -> None:
    """Write the scrapes of a node: at each time, metric by metric, GPU by GPU."""
    lines = pl.concat([*_lines(rows)]).sort("time_ms", "metric", "local_rank")
    with path.open("ab") as file:
        lines.select("line").write_csv(file, include_header=False, quote_style="never")


def _lines(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the lines of each metric, the first of them behind its description."""
    first = pl.col("local_rank") == pl.col("local_rank").min()
    for number, metric in enumerate(METRICS):
        head = (
            f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.kind}\n"
        )
        time_ms = pl.col("time_ns") // 1_000_000
        yield rows.select(
            "local_rank",
            time_ms=time_ms,
            metric=pl.lit(number),
            line=pl.concat_str(
                pl.when(first).then(pl.lit(head)).otherwise(pl.lit("")),
                pl.lit(f"{metric.name}{{"),
                "labels",
                pl.lit("} "),
                metric.value,
                pl.lit(" "),
                time_ms,
            ),
        )
