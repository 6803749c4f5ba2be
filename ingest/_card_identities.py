"""What the numbers of a run card must be to each other."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

#: Numbers of a card by their column, each there.
_Numbers = Mapping[str, Any]

#: Pairs of which the first may not be the greater, as columns and as fields.
_AT_MOST: Final = (
    ("active_parameters", "parameters", "training.{}", "training.{}"),
    ("communication_sms", "sms", "hardware.{}", "hardware.{}"),
    ("communication_w", "tdp_w", "hardware.{}", "hardware.{}"),
    ("achieved_tflops", "peak_tflops", "training.{}", "hardware.{}"),
    ("band_low_hz", "band_high_hz", "power.{}", "power.{}"),
    ("writers", "gpus", "checkpoints.{}", "hardware.{}"),
)

#: Columns that do not have the name of their field.
_COLUMNS: Final = MappingProxyType(
    {
        "band_low_hz": "power_band_low_hz",
        "band_high_hz": "power_band_high_hz",
        "writers": "checkpoint_writers",
    }
)


def contradiction(row: Mapping[str, Any]) -> str | None:
    """Return what contradicts itself in a card, in one line; None where nothing does.

    Source of the two identities of a layout: arXiv 2407.21783, table 4, whose every row
    must have tp x cp x pp x dp = GPUs and replicas x batch x sequence = tokens.

    Args:
        row: Fields of the card by column; None where it does not say.
    """
    order = row["rank_order"]
    if order is not None and sorted(order.split(",")) != ["cp", "dp", "pp", "tp"]:
        return "layout.order: expected each of tp, cp, pp and dp once"
    for check, needs in _CHECKS:
        numbers = {name: row[name] for name in needs}
        found = check(numbers) if None not in numbers.values() else None
        if found:
            return f"{found}; correct one of them"
    for low, high, low_path, high_path in _AT_MOST:
        small, great = (row[_COLUMNS.get(name, name)] for name in (low, high))
        if None not in (small, great) and small > great:
            return (
                f"{low_path.format(low)} is {small:.15g}, more than"
                f" {high_path.format(high)}, {great:.15g}; correct one of them"
            )
    return None


def _ranks(row: _Numbers) -> int:
    return int(row["tp"] * row["cp"] * row["pp"] * row["dp"])


def _layout(row: _Numbers) -> str | None:
    ranks, gpus = _ranks(row), row["gpus"]
    if ranks <= gpus:
        return None
    return f"the layout tp*cp*pp*dp needs {ranks} ranks, but hardware.gpus is {gpus}"


def _tokens(row: _Numbers) -> str | None:
    tokens, length, dp = (row[n] for n in ("tokens_per_step", "sequence_length", "dp"))
    if tokens % (length * dp) == 0:
        return None
    return (
        f"training.tokens_per_step is {tokens}, no multiple of layout.dp x"
        f" training.sequence_length, {dp} x {length}"
    )


def _chunks(row: _Numbers) -> str | None:
    chunks, layers = row["pp"] * row["vpp"], row["layers"]
    if chunks <= layers:
        return None
    return f"layout.pp x layout.vpp is {chunks}, more than training.layers, {layers}"


def _racks(row: _Numbers) -> str | None:
    racks = row["fabric_racks_per_pod"] * row["fabric_pods"]
    room, gpus = row["fabric_gpus_per_rack"] * racks, row["gpus"]
    if room >= gpus:
        return None
    return f"fabric holds {room} GPUs in {racks} racks, but hardware.gpus is {gpus}"


_CHECKS: Final = (
    (_layout, ("tp", "cp", "pp", "dp", "gpus")),
    (_tokens, ("tokens_per_step", "sequence_length", "dp")),
    (_chunks, ("pp", "vpp", "layers")),
    (_racks, ("fabric_gpus_per_rack", "fabric_racks_per_pod", "fabric_pods", "gpus")),
)
