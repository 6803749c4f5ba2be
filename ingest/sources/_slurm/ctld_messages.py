"""Messages of Slurm's daemons: what they say of nodes, and of their states."""

from typing import Final

import polars as pl

from ingest.sources._slurm.ctld_kinds import KINDS

#: Codes of what a node was set to, by the words of its state; null: no failure.
STATES: Final = {
    "DOWN": "node_down",
    "DRAIN": "node_drain",
    "DRAINED": "node_drain",
    "DRAINING": "node_drain",
    "FAIL": "node_fail",
    "FAILING": "node_fail",
    "INVAL": "node_invalid",
    "IDLE": "node_resumed",
    "RESUME": "node_resumed",
    "UNDRAIN": "node_resumed",
}

#: A message that sets the state of a node, and its words.
STATE: Final = r"(?i)\bnode (\S+) state (?:set )?to ([0-9A-Za-z_]+)"

#: A message that tells why the next one sets a state.
REASON: Final = r"\bnode (\S+) reason set to: (.*)$"

#: A reason at the end of a message.
WITH_REASON: Final = r"with reason: ?(.*)$"

#: A line that may be of one of the kinds; runs over every line.
CANDIDATE: Final = "|".join([STATE, REASON, *(kind.pattern for kind in KINDS)])


def matched() -> list[pl.Expr]:
    """Return `kind` (place in KINDS) and `nodes` of the column `message`."""
    message = pl.col("message")
    kind = pl.lit(None, pl.Int64)
    nodes = pl.lit(None, pl.String)
    for place, one in reversed([*enumerate(KINDS)]):
        fits = message.str.contains(one.pattern)
        told = message.str.extract(one.pattern) if one.has_nodes else pl.lit(None)
        kind = pl.when(fits).then(pl.lit(place, pl.Int64)).otherwise(kind)
        nodes = pl.when(fits).then(told).otherwise(nodes)
    set_to = message.str.extract(STATE, 2).str.to_uppercase()
    return [
        kind.alias("kind"),
        pl.coalesce(message.str.extract(STATE), nodes).alias("nodes"),
        set_to.replace_strict(STATES, default=None, return_dtype=pl.String).alias(
            "set_to"
        ),
        message.str.contains(STATE).alias("sets"),
    ]
