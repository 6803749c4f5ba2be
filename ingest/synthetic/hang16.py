"""The sample run that hangs: 16 ranks, of which one asks for nothing more."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from ingest.synthetic._hang_layout import Layout
from ingest.synthetic.hang import Hang, drawn_hang, write_hang
from ingest.synthetic.raw_text import write_lines
from ingest.times import SECOND_NS

#: Folder of its raw files, and name of its truth.
DATA: Final = "hang16"

#: Two tensor ranks, two replicas, four stages; small, so that its dumps are.
LAYOUT: Final = Layout(tp=2, dp=2, pp=4, ep=1, layers=1, micro_batches=8, hidden=4_096)

#: When it starts: a few minutes after the other samples.
_STARTED: Final = datetime(2026, 3, 2, 9, 12, tzinfo=UTC)

#: Price of the sample's GPUs. [USD/h]
USD_PER_GPU_HOUR: Final = 2.0


def write_hang16(folder: Path, seed: int) -> None:
    """Write the sample under `hang16`, and its truth beside that folder."""
    hang = hang16(seed)
    write_lines(folder / DATA / "run.toml", _card())
    write_hang(hang, folder / DATA)
    truth = json.dumps(_truth(hang, seed), indent=2)
    write_lines(folder / f"{DATA}-truth.json", [truth])


def hang16(seed: int) -> Hang:
    """Return the sample: a rank is stuck, and fifteen wait."""
    started_ns = int(_STARTED.timestamp()) * SECOND_NS
    return drawn_hang("rank_stuck", seed, LAYOUT, started_ns)


def _card() -> Iterator[str]:
    yield from (f'run_id = "{DATA}-demo"', 'cluster = "pod-c"', 'zone = "UTC"', "")
    yield from ("[hardware]", 'gpu = "H100-SXM"', f"gpus = {LAYOUT.ranks}")
    yield from ("gpus_per_node = 8", "", "[layout]", f"tp = {LAYOUT.tp}")
    yield from (f"pp = {LAYOUT.pp}", f"dp = {LAYOUT.dp}")
    yield 'order = ["tp", "cp", "dp", "pp"]'
    yield f"\n[price]\nusd_per_gpu_hour = {USD_PER_GPU_HOUR}"


def _truth(hang: Hang, seed: int) -> dict[str, object]:
    """Return what was put in."""
    return {
        "seed": seed,
        "run_id": f"{DATA}-demo",
        "ranks": hang.layout.ranks,
        "dumps": len(hang.dumps),
        "kind": hang.kind,
        "blamed_ranks": list(hang.blamed),
    }
