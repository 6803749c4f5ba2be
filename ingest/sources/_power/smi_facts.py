"""The lines of `nvidia-smi -q` that are stored, gathered into one row per GPU."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._power.fields import ADDRESS, UUID
from ingest.sources._power.smi_names import FIELD_OF_LINE, FIELDS

#: Lines that are kept of a GPU that has not ended: it has some forty that are stored.
MOST_FACTS: Final = 10_000

_GPU: Final = r"^GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])$"
_KEY: Final = r"^(.*?)\s*:(?:\s+(.*))?$"
_STAMP: Final = r"^Timestamp\s+: (.*)$"
_START: Final = r"^(?:=+NVSMI LOG=+|Timestamp\s+:.*|#+)$"
_UUID_KEY: Final = "GPU UUID"

_FIELD: Final = pl.DataFrame(
    [(heading, key, field) for (heading, key), field in FIELD_OF_LINE.items()],
    schema=["heading", "key", "field"],
    orient="row",
)


class Facts:
    """Gathers lines of several frames."""

    def __init__(self) -> None:
        """Start with none."""
        self._heading: str | None = None
        self._stamp: str | None = None
        self._look = 0
        self._held: pl.DataFrame | None = None

    def add(self, lines: pl.DataFrame, *, is_last: bool = False) -> pl.DataFrame:
        """Return the GPUs that have ended: `place`, `line`, `stamp` and their fields.

        Args:
            lines: Columns `number` and `line`.
            is_last: Whether no more lines come.
        """
        told = self._told(lines)
        facts = told if self._held is None else pl.concat([self._held, told])
        is_done = pl.lit(is_last) | (pl.col("look") < self._look)
        self._held = facts.filter(~is_done).head(MOST_FACTS)
        return _gathered(facts.filter(is_done))

    def _told(self, lines: pl.DataFrame) -> pl.DataFrame:
        """Return the lines that are stored, each with its look and its field."""
        line = pl.col("line")
        gpu, is_start = line.str.extract(_GPU), line.str.contains(_START)
        is_key = line.str.contains(_KEY)
        heading = pl.when(gpu.is_not_null() | is_start).then(pl.lit(""))
        parts = line.str.extract_groups(_KEY)
        marked = lines.with_columns(
            gpu=gpu,
            heading=heading.when(~is_key).then(line).forward_fill(),
            stamp=line.str.extract(_STAMP).forward_fill(),
            look=(gpu.is_not_null() | is_start).cum_sum().cast(pl.Int64) + self._look,
            key=parts.struct[0],
            value=pl.coalesce(gpu, parts.struct[1]),
        ).with_columns(
            pl.col("heading").fill_null(pl.lit(self._heading, pl.String)),
            pl.col("stamp").fill_null(pl.lit(self._stamp, pl.String)),
        )
        self._carry(marked)
        named = marked.join(
            _FIELD, on=["heading", "key"], how="left", maintain_order="left"
        )
        field = pl.coalesce(
            "field",
            pl.when(pl.col("gpu").is_not_null()).then(pl.lit(ADDRESS)),
            pl.when(pl.col("key") == _UUID_KEY).then(pl.lit(UUID)),
        )
        stored = named.with_columns(field=field).drop_nulls("field")
        return stored.select("number", "look", "stamp", "line", "field", "value")

    def _carry(self, marked: pl.DataFrame) -> None:
        """Remember what the lines to come depend on."""
        if not marked.is_empty():
            self._heading, self._stamp, self._look = marked.select(
                "heading", "stamp", "look"
            ).row(-1)


def _gathered(facts: pl.DataFrame) -> pl.DataFrame:
    """Make one row of the facts of each GPU; facts before the first one are of none."""
    fields = [
        pl.col("value").filter(pl.col("field") == field).first().alias(field)
        for field in FIELDS
    ]
    gpus = facts.group_by("look", maintain_order=True).agg(
        pl.col("number").first(),
        pl.col("stamp").first(),
        pl.col("line").str.join("\n"),
        *fields,
    )
    return gpus.drop_nulls(ADDRESS).select(
        "line",
        "stamp",
        *FIELDS,
        place=phrase("line {}", "number"),
        rule=pl.lit(None, pl.String),
    )
