"""Run cards as rows, and plans of them."""

from collections.abc import Mapping
from typing import Any, Final

from analysis._plan_lines import draw_up
from analysis._plan_rules import Line
from ingest import run_card

#: Llama 3 405B on 16,384 GPUs, the second row of table 4 (arXiv 2407.21783); keys and
#: values are 8 heads of 128.
LLAMA: Final = """
[hardware]
gpus = 16384
gpus_per_node = 8
nvlink_gbs = 450
network_gbs = 50
[layout]
tp = 8
pp = 16
dp = 128
microbatches = 16
[training]
parameters = 405e9
layers = 126
hidden = 16384
kv_hidden = 1024
tokens_per_step = 16777216
sequence_length = 8192
planned_steps = 1000
step_s = 6
[checkpoints]
store_gbs = 2000
local_gbs = 10
"""

#: The third row: long sequences, sixteen context-parallel ranks.
LLAMA_LONG: Final = (
    LLAMA.replace("tp = 8\n", "tp = 8\ncp = 16\n")
    .replace("dp = 128", "dp = 8")
    .replace("= 8192", "= 131072")
)


def row(text: str) -> dict[str, Any]:
    """A row of run_cards."""
    return run_card.row_of(run_card.parse(text.encode(), "run.toml"), "run", "pod")


def planned(text: str) -> Mapping[str, Line]:
    """Lines of the plan of a card, by name."""
    return {line.name: line for line in draw_up(row(text))}


def value(plan: Mapping[str, Line], name: str) -> float:
    """Value of a line that must have one."""
    found = plan[name].value
    assert found is not None, plan[name].note
    return found
