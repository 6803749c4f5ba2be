"""A folder where everything lands, made of real files, and the lake it becomes."""

import csv
import shutil
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from pipeline import querying
from pipeline.cli import run_tokens

DLRM = "kineto/facebookresearch+param/et_replay/tests/inputs/dlrm_kineto_extracted"
TORCHTITAN = "nccl/pytorch_torchtitan/structured_logs"
KERNEL_LINES = "failures/leptonai+gpud/kernel_lines.tsv"
SACCT = "failures/facebookresearch+gcm/sample-sacct-output-midnight-edge-case.txt"
A100 = "power/JimZeyuYang+GPU_Power_Benchmark/plotting/data/5050/A100/gpudata.csv"
DCGM = "power/NVIDIA+aicr/dcgm_exporter_h100x8.prom"


@dataclass(frozen=True)
class Job:
    """A main job that has run: its code, its input and its lake."""

    code: int
    inbox: Path
    lake: Path

    def sql(self, query: str) -> pl.DataFrame:
        """Rows of a query over the lake."""
        return querying.rows_of(self.lake, query)


@pytest.fixture(scope="session")
def dlrm(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """The eight ranks of DLRM, as they are."""
    inbox = shared / "data" / DLRM
    lake = tmp_path_factory.mktemp("dlrm") / "lake"
    code = run_tokens(["run", str(inbox), "--lake", str(lake), "--quiet"])
    return Job(code, inbox, lake)


def fill_inbox(inbox: Path, data: Path) -> None:
    """Put one file or more of every kind into a folder."""
    shutil.copytree(data / DLRM, inbox / "traces")
    shutil.copytree(data / TORCHTITAN, inbox / "steps")
    for name in (SACCT, DCGM):
        shutil.copy(data / name, inbox)
    with (data / KERNEL_LINES).open(encoding="utf-8", newline="") as file:
        lines = [row[-1] for row in csv.reader(file, delimiter="\t", quoting=3)][1:]
    (inbox / "kern.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (inbox / "a100").mkdir()
    shutil.copy(data / A100, inbox / "a100")
    (inbox / "a100" / "run.toml").write_text('run_id = "a100"\nzone = "+01:00"\n')


@pytest.fixture(scope="session")
def mixed(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """All four kinds of telemetry together, from real machines."""
    folder = tmp_path_factory.mktemp("mixed")
    inbox = folder / "inbox"
    inbox.mkdir()
    fill_inbox(inbox, shared / "data")
    code = run_tokens(["run", str(inbox), "--lake", str(folder / "lake"), "--quiet"])
    return Job(code, inbox, folder / "lake")
