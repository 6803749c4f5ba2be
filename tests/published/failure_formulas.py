"""What the product's formulas give, row by row of the expected values."""

import re
from collections.abc import Callable
from typing import Final

from analysis.checkpoint_models import (
    Costs,
    daly_period,
    ettr_closed_form,
    exact_period,
    rfo,
)
from analysis.poisson import mean_interval, mtbf, mtbf_of_nodes
from analysis.published_rates import LLAMA_3_CAUSES
from ingest.card_parts import Layout

HOUR_NS: Final = 3_600 * 10**9

#: Layouts of Llama 3 (arXiv 2407.21783, table 4): TP, CP, PP, DP, batch of a replica,
#: length of a sequence. The stored copy prints a DP of 4 in the third; both identities
#: need 8.
TABLE_4: Final = (
    (8, 1, 16, 64, 32, 8_192),
    (8, 1, 16, 128, 16, 8_192),
    (8, 16, 16, 8, 16, 131_072),
)

PERIODS: Final[dict[str, Callable[[Costs], float]]] = {
    "daly": daly_period,
    "rfo": rfo,
    "opt": exact_period,
}

_PERIOD: Final = re.compile(
    r"checkpoint period s, (\w+), mu=(\d+) C=(\d+) R=(\d+) D=(\d+)"
)


def formulas() -> dict[str, str]:
    """Answers E099 to E113."""
    total = sum(count for *_, count, _ in LLAMA_3_CAUSES)
    (faulty,) = [count for name, _, count, _ in LLAMA_3_CAUSES if name == "Faulty GPU"]
    answers = {"E099": f"{100 * faulty / total:.1f}"}
    for number, gpus, digits in (("E100", 16_384, 1), ("E101", 131_072, 2)):
        hours = mtbf_of_nodes(gpus // 8, 6.5) / HOUR_NS
        answers[number] = f"{hours:.{digits}f}"
    for number, minutes in (("E103", 60), ("E104", 5)):
        ratio = ettr_closed_form(2048, 6.5e-3, 300, 60 * minutes).ratio
        assert ratio is not None
        answers[number] = f"{ratio:.3f}"
    found = mtbf(total, 1296 * HOUR_NS, mean_interval(total))
    assert found.mean_ns is not None
    assert found.high_ns is not None
    low, mean, high = (
        ns / HOUR_NS for ns in (found.low_ns, found.mean_ns, found.high_ns)
    )
    answers["E105"] = f"{low:.3f}..{high:.3f} (point {mean:.3f})"
    for number, count in (("E107", 0), ("E108", 1), ("E109", 3)):
        answers[number] = "..".join(f"{end:.3f}" for end in mean_interval(count))
    for number, sizes in zip(("E111", "E112", "E113"), TABLE_4, strict=True):
        answers[number] = _identities(*sizes)
    return answers


def _identities(*sizes: int) -> str:
    tp, cp, pp, dp, batch, sequence = sizes
    gpus = Layout(tp=tp, cp=cp, pp=pp, dp=dp).ranks
    return f"{gpus} GPUs, {dp * batch * sequence} tokens"


def period(statistic: str) -> float:
    """Return the checkpoint period that a row of E115 to E153 asks for. [s]"""
    told = _PERIOD.fullmatch(statistic)
    assert told, statistic
    mtbf_s, stall, restart, down = map(float, told.groups()[1:])
    return PERIODS[told[1]](Costs(mtbf_s, stall, restart, down))
