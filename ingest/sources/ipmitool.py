"""Text of `ipmitool dcmi power reading`: power of a whole node, by its BMC.

* Its level is `node_ac`, what the node draws from its supply: more than its GPUs do,
  and never added to it.
* `Average power reading over sample period` is stored where the period is a second or
  two, as a mean over a second is. The least and the greatest power are of no column.
* The time is that of the BMC, in whole seconds and without a zone: the zone comes from
  the run card or `--zone`, and without either the rows are `zone_assumed`. A stamp that
  ends in UTC has its zone.
* A BMC that says `deactivated`, or 0 watts, offers the command without a sensor: such a
  reading is missing, and refused.
* The node is the one that pdsh or clush puts before each line, else that of the name of
  the file (_power.names). Other output may stand around.
"""

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._lines import TRUNCATED, blocks
from ingest.sources._power.ipmi import (
    AVERAGE,
    FIRST,
    LAST,
    PERIOD,
    STAMP,
    Power,
    Readings,
)
from ingest.sources._power.names import host_of, owned
from ingest.sources._power.rows import QUALITY, TIME_NS, batch, placed
from ingest.sources._power.stamps import asctime
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import PowerSamples

_FIRST_LINE: Final = re.compile(
    r"^[ \t]*(?:[\w.-]+: +)?Instantaneous power reading: +[0-9]+ Watts", re.MULTILINE
)
_WATTS: Final = r"^([0-9]{1,9}) Watts$"
_SECONDS: Final = r"^0*([0-9]{1,9}) Seconds\.?$"
_SLASHED: Final = (
    r"^([0-9]{2}/[0-9]{2}/20[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})(?: UTC)?$"
)

#: Longest period over which a mean is stored as one over about a second. [s]
PERIOD_S: Final = 2

#: Rule of a reading of a BMC that has no sensor.
_MISSING: Final = f"{PowerSamples.power_instant_w.name}|missing"

_HINTS: Final = {
    _MISSING: "the BMC measures no power: it says deactivated, or 0 watts",
    TRUNCATED: "the last line of this reading is missing",
}


def recognizes(head: Head) -> bool:
    """Return whether a reading starts in the head."""
    return " Watts" in head.text and _FIRST_LINE.search(head.text) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read readings."""
    readings = Readings()
    for block in blocks(stream):
        yield Batch(repairs=block.repairs + block.cut)
        found: list[Power] = []
        for number, line in block.lines():
            found += readings.add(number, line.decode("utf-8", errors="replace"))
        yield _batch(found, reading)
    yield _batch(readings.rest(), reading)


def _batch(found: Iterable[Power], reading: Reading) -> Batch:
    powers = list(found)
    told = _cells(powers).with_columns(*_times(reading))
    watts, average = _number(FIRST, _WATTS), _number(AVERAGE, _WATTS)
    is_short = _number(PERIOD, _SECONDS) <= PERIOD_S
    is_missing = (watts == 0) | (pl.col(LAST) == "deactivated")
    rules = {
        TRUNCATED: pl.col(LAST).is_null(),
        _MISSING: is_missing,
        f"{PowerSamples.power_instant_w.name}|value": watts.is_null(),
        f"{TIME_NS}|value": pl.col(TIME_NS).is_null(),
    }
    broken = [
        pl.when(is_broken).then(pl.lit(rule)) for rule, is_broken in rules.items()
    ]
    host = pl.coalesce("node", pl.lit(host_of(reading.name), pl.String))
    rows = told.select(
        "place",
        "line",
        pl.coalesce(broken).alias("rule"),
        pl.lit(reading.cluster).alias(PowerSamples.cluster.name),
        host.alias(PowerSamples.host.name),
        owned(pl.lit("node"), host, reading).alias(PowerSamples.gpu_uuid.name),
        pl.lit("node_ac").alias(PowerSamples.level.name),
        TIME_NS,
        QUALITY,
        watts.alias(PowerSamples.power_instant_w.name),
        pl.when(is_short).then(average).alias(PowerSamples.power_average_w.name),
    )
    return batch(rows, len(powers), zone_used=True, hints=_HINTS)


def _cells(powers: list[Power]) -> pl.DataFrame:
    columns: dict[str, list[str | None]] = {
        "place": [f"line {power.line}" for power in powers],
        "line": [repr(power.values) for power in powers],
        "node": [power.node for power in powers],
    }
    for key in (FIRST, AVERAGE, STAMP, PERIOD, LAST):
        columns[key] = [power.values.get(key) for power in powers]
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def _times(reading: Reading) -> list[pl.Expr]:
    stamp = pl.col(STAMP)
    slashed = stamp.str.extract(_SLASHED).str.to_datetime(
        "%m/%d/%Y %H:%M:%S", strict=False, time_unit="ns"
    )
    local, quality = placed(pl.coalesce(asctime(stamp), slashed), reading)
    is_utc = stamp.str.ends_with(" UTC")
    return [
        pl.when(is_utc).then(slashed.dt.epoch("ns")).otherwise(local).alias(TIME_NS),
        pl.when(is_utc).then(pl.lit("exact")).otherwise(quality).alias(QUALITY),
    ]


def _number(key: str, pattern: str) -> pl.Expr:
    return pl.col(key).str.extract(pattern).cast(pl.Float64)


SOURCE: Final = Source(
    name="ipmitool",
    version=2,
    describes="text of ipmitool dcmi power reading",
    tables=(PowerSamples,),
    options=frozenset({"zone", "cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
