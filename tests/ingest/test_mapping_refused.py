"""What a mapping may not say: refused by name and place before a file is read."""

import io
import string
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest import mapping
from ingest._mapping_card import Card
from ingest._mapping_csv import split_all, split_one
from ingest.errors import SettingError, UnreadableFileError
from ingest.mapping import Mapping
from ingest.sources import Batch, Head
from ingest.tables import Failures, Table
from tests.examples import examples
from tests.ingest.mapped import STEPS, TIMED, mapped, parse
from tests.ingest.readings import held, reading, records, refused

MAP = '[[map]]\nfiles = "*"\ntable = "failures"\n'
COLUMNS = f'{MAP}[map.columns]\ncode = "c"\n'
TIME = f"{COLUMNS}time_ns = "
SPAN = TIMED.partition("duration_ns")[0] + "duration_ns = "

REFUSED = [
    ("", "map"),
    ("map = []", "map"),
    ("[[map]", "m.toml: not a mapping"),
    ("a = 1", "unknown field `a`"),
    (f"{MAP}colums = 1", "unknown field `colums`"),
    (f'{COLUMNS}name = {{ fild = "x" }}', "unknown field `fild`"),
    ('[[map]]\ntable = "failure"', "map 1: table: no table 'failure' to fill; one of"),
    ('[[map]]\ntable = "rejected_rows"', "no table 'rejected_rows' to fill"),
    (f'{COLUMNS}hots = "x"', "map 1: columns.hots: failures has no such column"),
    (f'{COLUMNS}file_id = "x"', "columns.file_id: failures has no such column"),
    (f'{COLUMNS}occurrence = "x"', "columns.occurrence: failures has no such column"),
    (f"{COLUMNS}[map.constants]\nhots = 1", "constants.hots: failures has no such"),
    (f"{COLUMNS}[map.constants]\ncode = 'x'", "constants.code: columns fills it"),
    (f"{COLUMNS}[map.constants]\nhost = 1", "constants.host: expected text, found 1"),
    (f"{COLUMNS}[map.constants]\nhost = ''", "constants.host: '' breaks the rule"),
    (f"{COLUMNS}[map.constants]\nseverity = 'bad'", "'bad' breaks the rule 'check'"),
    (f"{COLUMNS}[map.constants]\nrank = 3000000000", "expected a whole number"),
    (f"{COLUMNS}[map.constants]\nrank = true", "expected a whole number"),
    (f"{COLUMNS}[map.constants]\nrank = -1", "-1 breaks the rule 'min'"),
    (f"{MAP}[map.columns]\nhost = 'h'", "map 1: columns: failures needs code"),
    (STEPS, "columns: step_timings needs duration_ns"),
    (f'{TIME}"t"', "columns.time_ns: a time needs one of: unit = epoch_s, epoch_ms"),
    (f'{TIME}{{ field = "t", unit = "ms" }}', "expected epoch_s, epoch_ms, epoch_us"),
    (f'{TIME}{{ field = "t", unit = "epoch_s", format = "iso8601" }}', "one of"),
    (f'{TIME}{{ field = "t", unit = "epoch_s", since = "2020-01-01" }}', "ns, us, ms"),
    (
        f'{TIME}{{ field = "t", unit = "d", since = "monday" }}',
        "since: expected an ISO",
    ),
    (f'{TIME}{{ field = "t", format = "%H:%M" }}', "must tell the year, the month"),
    (f'{TIME}{{ field = "t", format = "%Q" }}', "format: '%Q' cannot be used"),
    (f'{TIME}{{ field = "t", format = "%Y-%m-%d %Z" }}', "an offset is %z"),
    (
        f'{TIME}{{ field = "t", format = "%Y-%m-%d %H:%M:%S.%f" }}',
        "and %3f, %6f or %9f of",
    ),
    (f'{TIME}{{ field = "t", unit = "epoch_s", zone = "Mars" }}', "zone 'Mars'"),
    (f'zone = "Mars"\n{TIME}{{ field = "t", format = "iso8601" }}', "zone 'Mars'"),
    (f'{SPAN}"d"', "columns.duration_ns: unit: the numbers of the source need one of"),
    (f'{SPAN}{{ field = "d", unit = "sec" }}', "ns, us, ms, s, min, h, d; found 'sec'"),
    (f'{SPAN}{{ field = "d", unit = "s", format = "iso8601" }}', "format: a column"),
    (f'{SPAN}{{ from = "a" }}', "from and to: each needs the other"),
    (f'{SPAN}{{ from = "a", to = "b" }}', "a time needs one of"),
    (f'{SPAN}{{ field = "a", from = "a", to = "b", unit = "s" }}', "expected one of"),
    (f'{COLUMNS}name = {{ from = "a", to = "b", unit = "s" }}', "only for a length"),
    (f'{COLUMNS}name = {{ field = "a", unit = "s" }}', "unit: a column without a unit"),
    (f'{COLUMNS}name = {{ field = "a", zone = "UTC" }}', "zone: a column that is no"),
    (f"{COLUMNS}name = {{ default = 'x' }}", "expected one of field, first, text"),
    (f'{COLUMNS}name = {{ field = "a", name = true }}', "name: only with first"),
    (f'{COLUMNS}name = {{ text = "no field" }}', "text: expected fields in braces"),
    (f'{COLUMNS}name = {{ text = "{{a" }}', "text: expected fields in braces"),
    (f'{COLUMNS}rank = {{ field = "a", default = -1 }}', "default: -1 breaks the rule"),
    (
        f'{COLUMNS}rank = {{ field = "a", values = {{ x = "y" }} }}',
        "values.x: expected",
    ),
    (f'{COLUMNS}name = "until.x"', "there is no `until` in this map"),
    (f'{MAP}where = {{ column = "a" }}\n{COLUMNS[len(MAP) :]}', "equals or differs"),
    (TIMED.replace("]]", "]]\nheader = false"), "is known by its name only"),
    (f"{MAP}header = ['a', 'a']\n{COLUMNS[len(MAP) :]}", "names that differ"),
    (f"{MAP}skip = -1\n{COLUMNS[len(MAP) :]}", "skip"),
    (f"{MAP}delimiter = ',,'\n{COLUMNS[len(MAP) :]}", "delimiter"),
    (f'{COLUMNS}\n{MAP}[map.columns]\nx = "y"', "map 2: columns.x"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_what_a_mapping_may_not_say(text: str, why: str) -> None:
    with pytest.raises(SettingError) as error:
        parse(text)
    said = str(error.value)
    assert said.startswith("m.toml: ")
    assert why in said
    assert "\n" not in said


def test_a_unit_is_asked_for_of_every_column_that_has_one() -> None:
    columns = {
        "power_average_w": "mW, W, kW, MW",
        "energy_mj": "mWh, Wh, kWh",
        "temperature_c": "C, K, F",
        "sm_clock_mhz": "Hz, kHz, MHz, GHz",
        "utilization_ratio": "ratio, percent",
        "throttle_power_ns": "ns, us, ms, s, min, h, d",
    }
    start = '[[map]]\nfiles = "*"\ntable = "power_samples"\n[map.columns]\n'
    for name, units in columns.items():
        with pytest.raises(SettingError, match=units):
            parse(f'{start}{name} = "x"')


def test_a_mapping_that_cannot_be_opened(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.toml"):
        with pytest.raises(SettingError, match="give a mapping that can be read"):
            mapping.load(path)


#: Keys and values of mappings, right and wrong.
WORDS = st.sampled_from(
    [
        "c",
        "t",
        "*",
        "a.b",
        "code",
        "{c}",
        "{",
        "",
        "ms",
        "epoch_s",
        "iso8601",
        "%Y",
        "%",
    ]
) | st.text(max_size=6)
SCALARS = WORDS | st.integers(-(2**70), 2**70) | st.floats() | st.booleans()
VALUES = st.dictionaries(
    st.sampled_from(["field", "first", "text", "unit", "since", "format", "values"]),
    SCALARS | st.lists(WORDS, max_size=2) | st.dictionaries(WORDS, SCALARS, max_size=2),
    max_size=3,
)
MAPS = st.fixed_dictionaries(
    {"table": st.just("failures"), "files": st.just("*")},
    optional={
        "columns": st.dictionaries(
            st.sampled_from(["code", "time_ns", "end_ns", "rank", "severity", "x"]),
            WORDS | VALUES,
        ),
        "constants": st.dictionaries(
            st.sampled_from(["code", "rank", "inferred", "time_ns"]), SCALARS
        ),
        "where": st.fixed_dictionaries({"column": WORDS, "equals": WORDS}),
        "null": st.lists(WORDS, max_size=2),
        "format": st.sampled_from(["csv", "tsv", "jsonl", "json", "parquet"]),
        "delimiter": WORDS,
        "comment": WORDS,
        "skip": st.integers(-1, 3),
        "header": st.booleans() | st.lists(WORDS, max_size=3),
    },
)
DATA = st.binary(max_size=200) | st.text(
    st.sampled_from(list('ct,;\t\n"\\{}[]:0123.-eE') + list(string.ascii_letters)),
    max_size=300,
).map(str.encode)


def read(found: Mapping, data: bytes) -> list[Batch]:
    """Read a file as a mapping says; nothing where it cannot be read at all."""
    source = mapping.claim(Head("any", data), [found], None)
    assert source is not None
    try:
        return held(source.read(io.BytesIO(data), reading()))
    except UnreadableFileError:
        return []


def offered(batches: list[Batch], table: type[Table]) -> int:
    return sum(batch.rows[table].height for batch in batches if table in batch.rows)


@settings(max_examples=examples(80), suppress_health_check=[HealthCheck.too_slow])
@given(MAPS, DATA)
def test_no_mapping_and_no_file_ends_in_an_error(said: Any, data: bytes) -> None:
    try:
        card = msgspec.convert({"map": [said]}, Card)
        found = mapping.checked(card, "m.toml")
    except (SettingError, msgspec.ValidationError):
        return
    batches = read(found, data)
    assert offered(batches, Failures) + len(refused(batches)) <= records(batches) + 1


@settings(max_examples=examples(100))
@given(st.binary(max_size=300))
def test_no_bytes_are_a_mapping_by_chance(data: bytes) -> None:
    with pytest.raises(SettingError):
        mapping.parse(data, "m.toml")


FILES = [
    ("a.csv", b'c,t\n1,1700000000\n2,"x\ny"\n"3",\n'),
    ("a.jsonl", b'{"c":1,"t":1700000000.5}\n{"c":"2","t":null}\n'),
    ("a.json", b'[{"c":1,"t":1700000000.5},\n{"c":"\\u00e9","t":{"x":[1]}}]'),
]
TOLD = f'{TIME}{{ field = "t", unit = "epoch_s", default = 0 }}\n'


@settings(max_examples=examples(80))
@given(st.sampled_from(FILES), st.integers(0, 60), st.binary(max_size=3), st.booleans())
def test_every_record_of_a_damaged_file_is_a_row_or_refused(
    file: tuple[str, bytes], place: int, put: bytes, cut: bool
) -> None:
    _, data = file
    hurt = data[:place] + put + (b"" if cut else data[place + 1 :])
    batches = read(parse(TOLD), hurt)
    assert offered(batches, Failures) + len(refused(batches)) == records(batches)


def test_the_files_are_whole_as_they_are() -> None:
    for name, data in FILES:
        assert offered(held(mapped(TOLD, data, name)), Failures) >= 1


@settings(max_examples=examples(100))
@given(st.lists(st.text('a"",\n\r\\', max_size=8), max_size=6))
def test_records_are_split_together_as_they_are_alone(lines: list[str]) -> None:
    alone = [split_one(line, ",") for line in lines]
    assert list(split_all(lines, ",")) == alone
