"""Words of a list of interruptions, as components and codes of failures.

The words of the list of Llama 3 (arXiv 2407.21783, table 5) are all known; others are
kept as they are for a code, and tell of no component that they do not name.
"""

from typing import Final

import polars as pl

#: Components by words of the component, the category or the cause; the first that fits.
COMPONENTS: Final = {
    "human": r"\bhuman|operator error|operational error",
    "user": r"\buser|\bconfig(?:uration)? error|hyper-?parameter|\bdata ?set",
    "software": r"software|\bbug\b|dependency|driver|framework|library|checkpoint",
    "gpu_memory": r"\bhbm|\bsram|\becc\b|gpu memory|vram",
    "nvlink": r"nvlink|nvswitch",
    "nic": r"\bnics?\b|\bhca\b|network card",
    "network": r"network|switch|cable|fabric|\blink\b|infiniband|\broce\b|optic",
    "gpu": r"\bgpus?\b|accelerator",
    "memory": r"dimm|system memory|\bram\b",
    "disk": r"\bssd|\bdisk|nvme|storage|filesystem",
    "power": r"power|\bpsu\b|\bpdu\b",
    "cooling": r"cooling|thermal|temperature",
    "cpu": r"\bcpus?\b",
    "scheduler": r"scheduler|slurm|preempt|requeue",
    "facilities": r"facilit|environment|building|chiller",
    "maintenance": r"maintenance",
    "host": r"host|node|server|chassis|board|reboot|firmware|hardware",
}

_YES: Final = ("yes", "y", "true", "1", "planned", "scheduled", "maintenance")
_NO: Final = ("no", "n", "false", "0", "", "unplanned", "unexpected", "unscheduled")


def component() -> pl.Expr:
    """Return the component of a row: of what its columns say, the most particular."""
    return pl.coalesce(_of(pl.col(name)) for name in ("component", "cause", "category"))


def _of(text: pl.Expr) -> pl.Expr:
    found = pl.lit(None, pl.String)
    for name, pattern in reversed(COMPONENTS.items()):
        fits = text.str.contains(f"(?i){pattern}")
        found = pl.when(fits).then(pl.lit(name)).otherwise(found)
    return found


def code() -> pl.Expr:
    """Return the code of a row: what its component is called, in small letters."""
    told = pl.coalesce("component", "category", "cause")
    word = told.str.to_lowercase().str.replace_all(r"[^a-z0-9]+", "_")
    short = word.str.strip_chars("_").str.head(64)
    return pl.when(short != "").then(short).fill_null("interruption")


def planned() -> pl.Expr:
    """Return whether a row was planned, null where its word is not known."""
    word = pl.col("planned").fill_null("").str.to_lowercase().str.strip_chars()
    return pl.when(word.is_in(_YES)).then(True).when(word.is_in(_NO)).then(False)
