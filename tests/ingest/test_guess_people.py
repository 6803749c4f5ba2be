"""Tables that tools write for people, headers that are none, and what comes near."""

import pytest

from ingest import files
from ingest._guess import guess
from ingest._guess_near import _NAMES
from ingest.sources import SOURCES, Head

SMI = """Sun Jan  7 10:00:00 2024
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 525.105.17   Driver Version: 525.105.17   CUDA Version: 12.0     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
|   0  NVIDIA A100-SXM...  On   | 00000000:07:00.0 Off |                    0 |
+-------------------------------+----------------------+----------------------+
"""
PMON = """# gpu        pid  type    sm   mem   enc   dec   command
# Idx          #   C/G     %     %     %     %   name
    0       1234     C    45    12     -     -   python
"""
ROCM = """===================== ROCm System Management Interface =====================
================================= Concise Info =================================
GPU  Temp   AvgPwr  SCLK    MCLK     Fan  Perf  PwrCap  VRAM%  GPU%
0    35.0c  42.0W   800Mhz  1600Mhz  0%   auto  300.0W    0%   0%
================================================================================
"""
EVENTS = """LAST SEEN   TYPE      REASON     OBJECT        MESSAGE
5m          Warning   BackOff    pod/train-0   Back-off restarting failed container
2m          Normal    Pulled     pod/train-1   Container image already present
"""
DF = """Filesystem     1K-blocks      Used Available Use% Mounted on
/dev/nvme0n1p1 959786032 123456789 787654321  14% /
"""
SQUEUE = """   1234 gpu train user R 1-02:03:04 4 node[1-4]
   1235 gpu train user PD 0:00 4 (Resources)
"""
SINFO = """gpu* up infinite 4 idle node[1-4]
gpu* up infinite 1 down node5
"""
COUNTERS = """# Format
# DCGM FIELD, Prometheus metric type, help message
DCGM_FI_DEV_SM_CLOCK,  gauge, SM clock frequency (in MHz).
DCGM_FI_DEV_MEM_CLOCK, gauge, Memory clock frequency (in MHz).
"""
PEOPLE = """NODE      RANK   STATE     LOSS
node-a    0      running   2.51
node-b    1      running   2.49
"""


def told(text: str) -> str:
    head = Head("x", text.encode())
    assert files.recognize(head, SOURCES) is None
    return guess(head)


@pytest.mark.parametrize(
    ("text", "what", "remedy"),
    [
        (SMI, "table for people of nvidia-smi;", "--format=csv -l 1"),
        (PMON, "table for people of nvidia-smi pmon;", "it tells of processes"),
        (ROCM, "table for people of rocm-smi;", "--json"),
        (EVENTS, "table for people of kubectl get events;", "events -A -o json"),
        (f"NAMESPACE   {EVENTS}", "table for people of kubectl get events;", "-o json"),
        (DF, "table for people of df;", "no table takes the space"),
        (SQUEUE, "listing of squeue without its header;", "-h out: squeue --format"),
        ("1234|train|RUNNING|2024-01-01T00:00:00\n1235|b|PENDING|N/A\n",
         "listing of squeue without its header;", "leave -h out"),
        (SINFO, "listing of sinfo without its header;", "leave -h out: sinfo -N"),
        ("gpu*|up|infinite|4|idle|n[1-4]\ngpu*|up|infinite|1|down|n5\n",
         "listing of sinfo without its header;", "leave -h out"),
        ("N/A|#1|#45_7|#bash|#RUNNING|#user\ngpu:1|#1|#46|#run|#PENDING|#user\n",
         "listing of squeue without its header;", "leave -h out"),
        (f"node1{' ' * 2000}|gpu:8{' ' * 2000}|mixed {' ' * 90}|x\n",
         "listing of sinfo without its header;", "leave -h out"),
        (COUNTERS, "list of counters that dcgm-exporter is to show", "at /metrics"),
        (PEOPLE, "table for people;", "write it as JSON or CSV, with times"),
        ("┌───┬───┐\n│ a │ b │\n└───┴───┘\n", "table for people;", "as JSON or CSV"),
    ],
)  # fmt: skip
def test_a_table_for_people_and_what_to_write_instead(
    text: str, what: str, remedy: str
) -> None:
    said = told(text)
    assert said.startswith(("looks like a ", "looks like the "))
    assert what in said
    assert remedy in said


@pytest.mark.parametrize(
    "row", ["7,a,b", "a,2024-01-01 10:00:00,b", "a,b,-1.5e3", "10:00:00,a,b"]
)
def test_a_first_row_of_values_is_no_header(row: str) -> None:
    assert told(f"{row}\n{row}\n") == "looks like CSV without a line of names"


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("index,power.draw [W],uuid\n0,100.00 W,GPU-1\n",
         "nearest: nvidia-smi, which has index, power.draw, uuid, too"),
        ('{"log_history": [], "global_step": 1, "epoch": 2}',
         "nearest: trainer-state, which has log_history, global_step, epoch, too"),
        ("emissions,gpu_power,cpu_power,gpu_energy,cpu_energy\n1a,2b,3c,4d,5e\n",
         "which has emissions, gpu_power, cpu_power, gpu_energy and 1 more, too"),
    ],
)  # fmt: skip
def test_the_source_with_the_same_names_is_near(text: str, near: str) -> None:
    head = Head("x", text.encode())
    assert guess(head).endswith(near)


def test_near_sources_are_sources() -> None:
    assert set(_NAMES) <= {source.name for source in SOURCES}
