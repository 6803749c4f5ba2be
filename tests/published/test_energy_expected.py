"""The energy of a load on an A100 that an external meter measured, too."""

from pathlib import Path
from typing import Final

import polars as pl
import pytest

from analysis._energy_bridges import GAP_CEILING_S, GAP_FLOOR_S, GAP_INTERVALS, Bridges
from analysis._energy_measure import integrate
from ingest.tables import PowerSamples
from ingest.times import SECOND_NS

FOLDER: Final = "JimZeyuYang+GPU_Power_Benchmark/plotting/data/5050/A100"

#: The log's clock was an hour ahead of UTC (British Summer Time).
ZONE_NS: Final = 3_600 * SECOND_NS


def test_the_energy_of_a_load_is_that_of_the_meter(shared: Path) -> None:
    folder = shared / "data" / "power" / FOLDER
    log = pl.read_csv(folder / "gpudata.csv")
    time, watts = pl.col("timestamp").str.strip_chars(), pl.col(" power.draw [W]")
    stamps = time.str.to_datetime("%Y/%m/%d %H:%M:%S%.f", time_unit="ns")
    samples = log.select(
        device=pl.lit(0, pl.Int64),
        level=pl.lit("gpu_board"),
        time_ns=stamps.dt.epoch("ns") - ZONE_NS,
        time_quality=pl.lit("exact"),
        power_average_w=watts.cast(pl.String).str.strip_chars().cast(pl.Float64),
    )
    missing = PowerSamples.create_empty().drop(samples.columns, strict=False)
    loads = pl.read_csv(folder / "timestamps.csv")["timestamp"] * 1_000
    window = pl.DataFrame(
        {
            "device": [0],
            "window": ["load"],
            "from_ns": [loads.min()],
            "to_ns": [loads.max()],
            "is_shared": [False],
            "is_assumed": [False],
        }
    )
    found = integrate(
        pl.concat([samples, missing], how="diagonal"),
        window,
        Bridges(
            round(GAP_FLOOR_S * SECOND_NS),
            GAP_INTERVALS,
            round(GAP_CEILING_S * SECOND_NS),
        ),
    ).row(0, named=True)
    assert found["energy_j"] == pytest.approx(1_024.87, rel=1e-3)
    assert found["energy_j"] == pytest.approx(1_024.72, rel=1e-3)  # the meter
    assert found["mean_w"] == pytest.approx(129.24, abs=0.01)
    assert found["coverage_ratio"] == 1
    assert found["quality"] is None
