"""Records as rows of the tables that a mapping names."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from ingest._mapping_cells import LINE, PLACE, RULE, Cells
from ingest._mapping_own import NAIVE, constants, own_columns, required
from ingest._mapping_pairs import NO_START, Pairs
from ingest._mapping_plan import Plan
from ingest._mapping_targets import FIELD
from ingest.sources import Batch, Reading, Refusal
from ingest.sources._source import RAW_CHARACTERS
from ingest.tables import Table

#: Seed of the hash that tells rows apart which are alike but for their number.
_SEED: Final = 20_260_101

_ROW: Final = "_row"

_HINTS: Final = {
    NO_START: "a record that ends what no record before it began",
    "cell_count": "a record with as many cells as the header",
    "open_quote": "a quote that closes the cell",
}


@dataclass(slots=True)
class Rows:
    """Makes rows of the records of one file."""

    plans: tuple[Plan, ...]
    reading: Reading
    _seen: dict[type[Table], pl.DataFrame] = field(default_factory=dict)
    _pairs: dict[int, Pairs] = field(default_factory=dict)

    def batches(self, cells: Iterable[Cells]) -> Iterator[Batch]:
        """Yield the rows of records, and last those of which no end was found."""
        for some in cells:
            yield self._batch(some)
        for number, pairs in self._pairs.items():
            if (left := pairs.rest()) is not None:
                yield self._together([self._rows(self.plans[number], left)])

    def _batch(self, cells: Cells) -> Batch:
        whole = cells.frame.filter(pl.col(RULE).is_null())
        broken = cells.frame.filter(pl.col(RULE).is_not_null())
        made = [self._made(number, whole) for number in range(len(self.plans))]
        lost = _refusals(self.plans[0].table, broken, _HINTS)
        return self._together(
            made,
            refused=(*cells.refused, *lost),
            records=cells.frame.height + len(cells.refused),
            repairs=cells.repairs,
        )

    def _made(self, number: int, whole: pl.DataFrame) -> "_Made":
        plan = self.plans[number]
        if plan.until is None:
            return self._rows(plan, whole.filter(plan.where))
        pairs = self._pairs.setdefault(number, Pairs(plan, plan.until))
        return self._rows(plan, pairs.take(whole))

    def _together(
        self,
        made: Iterable["_Made"],
        refused: tuple[Refusal, ...] = (),
        records: int = 0,
        repairs: int = 0,
    ) -> Batch:
        rows: dict[type[Table], pl.DataFrame] = {}
        zone_used = False
        zones: frozenset[str] = frozenset()
        for one in made:
            refused = (*refused, *one.refused)
            zone_used |= one.zone_used
            zones |= one.zones
            if not one.rows.is_empty():
                known = [rows[one.table]] if one.table in rows else []
                rows[one.table] = pl.concat([*known, one.rows], how="diagonal")
        return Batch(rows, refused, records, repairs, zone_used, zones)

    def _rows(self, plan: Plan, records: pl.DataFrame) -> "_Made":
        numbered = records.with_row_index(_ROW)
        known, zones = self._computed(plan, numbered), _zones(plan)
        taken = known.filter(pl.col(RULE).is_null())
        lost = known.filter(pl.col(RULE).is_not_null()).select(_ROW, RULE)
        broken = numbered.drop(RULE).join(lost, on=_ROW, maintain_order="left")
        hints = {t.rule: f"expected {t.kind.expected}" for t in plan.targets}
        return _Made(
            table=plan.table,
            rows=self._numbered(plan, taken).drop(NAIVE, RULE, _ROW, *zones),
            refused=_refusals(plan.table, broken, _HINTS | _lacking(plan) | hints),
            zone_used=bool(taken[NAIVE].any()),
            zones=frozenset(zone for zone in zones if taken[zone].any()),
        )

    def _computed(self, plan: Plan, records: pl.DataFrame) -> pl.DataFrame:
        """Return the columns of the table, and the rule that a record breaks."""
        ready = [(target, target.ready(self.reading.zone)) for target in plan.targets]
        bad = [pl.when(r.is_bad).then(pl.lit(t.rule)) for t, r in ready]
        stamped = [(t.zone, r.naive) for t, r in ready if t.kind.uses_zone]
        naive = [is_naive for zone, is_naive in stamped if zone is None]
        values = records.select(
            _ROW,
            PLACE,
            *[r.value.alias(t.name) for t, r in ready],
            pl.any_horizontal(pl.lit(value=False), *naive).alias(NAIVE),
            *[
                pl.any_horizontal(n for z, n in stamped if str(z) == zone).alias(zone)
                for zone in _zones(plan)
            ],
            pl.coalesce(RULE, *bad, pl.lit(None, pl.String)).alias(RULE),
        )
        complete = values.with_columns(constants(plan)).with_columns(
            own_columns(plan, self.reading)
        )
        return complete.with_columns(rule=pl.coalesce(RULE, *required(plan)))

    def _numbered(self, plan: Plan, rows: pl.DataFrame) -> pl.DataFrame:
        """Number rows that are alike in all that tells them apart."""
        table = plan.table
        if "occurrence" not in table.columns():
            return rows
        key = [name for name in table.key if name in rows.columns]
        marked = rows.with_columns(_key=pl.struct(key).hash(_SEED))
        nth = pl.int_range(pl.len(), dtype=pl.Int64).over("_key")
        if (seen := self._seen.get(table)) is not None:
            marked = marked.join(seen, on="_key", how="left", maintain_order="left")
            nth += pl.col("_count").fill_null(0)
        numbered = marked.with_columns(occurrence=nth.cast(pl.Int32))
        counts = numbered.group_by("_key").agg(_count=pl.len().cast(pl.Int64))
        both = [counts] if seen is None else [seen, counts]
        self._seen[table] = pl.concat(both).group_by("_key").agg(pl.col("_count").sum())
        return numbered.drop("_key", "_count", strict=False)


@dataclass(frozen=True, slots=True)
class _Made:
    """What one map made of some records."""

    table: type[Table]
    rows: pl.DataFrame
    refused: tuple[Refusal, ...]
    zone_used: bool
    zones: frozenset[str]


def _zones(plan: Plan) -> list[str]:
    """Return the zones that a map says of stamps."""
    return sorted({str(t.zone) for t in plan.targets if t.zone and t.kind.uses_zone})


def _lacking(plan: Plan) -> dict[str, str]:
    """Return hints for rows that lack a value."""
    return {
        f"{t.name}|required": f"no value in {' or '.join(t.fields)}, where the mapping"
        " looks for it"
        for t in plan.targets
    }


def _as_json(records: pl.DataFrame) -> pl.Expr:
    fields = [
        pl.col(name).alias(name.removeprefix(FIELD))
        for name in records.columns
        if name.startswith(FIELD)
    ]
    return pl.struct(fields).struct.json_encode() if fields else pl.lit("")


def _refusals(
    table: type[Table], broken: pl.DataFrame, hints: dict[str, str]
) -> tuple[Refusal, ...]:
    line = pl.col(LINE) if LINE in broken.columns else _as_json(broken)
    rows = broken.select(
        PLACE, RULE, line.fill_null("").str.head(RAW_CHARACTERS).alias(LINE)
    )
    return tuple(
        Refusal(table, place, rule, raw, hints.get(rule))
        for place, rule, raw in rows.iter_rows()
    )
