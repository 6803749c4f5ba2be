"""Lines of JSON that are alike give at once what they give one by one."""

import io
import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import power_table, step_table
from ingest.sources._lines import Block, blocks
from ingest.sources._lines_json_alike import alike, typed
from ingest.sources._lines_json_typed import typed_lines
from ingest.sources._source import Batch
from ingest.sources._typed import text
from tests.examples import examples
from tests.ingest.readings import reading

TYPES = {
    "host": pl.String(),
    "step": pl.Int64(),
    "rank": pl.Int32(),
    "watts": pl.Float64(),
}
LINE = b'{"host":"a","step":1,"rank":2,"watts":0.5,"more":true}'
MANY = 30


def block_of(data: bytes) -> Block:
    return next(blocks(io.BytesIO(data)))


def is_alike(line: bytes) -> bool:
    """Whether a line is read as LINE is, when it follows it."""
    shared = alike(LINE)
    assert shared is not None
    found = typed(LINE + b"\n" + line, shared, TYPES)
    return found is not None and found["_is_alike"].to_list() == [True, True]


def test_lines_that_are_alike_become_columns() -> None:
    lines = [b'{"host": "a", "step": %d, "watts": 1e2}' % n for n in (-7, 0, 2**62)]
    rows, left = typed_lines(block_of(b"\n".join(lines) + b"\n"), TYPES)
    assert left == []
    assert rows.rows() == [
        ("a", -7, None, 100.0, 1),
        ("a", 0, None, 100.0, 2),
        ("a", 2**62, None, 100.0, 3),
    ]
    assert dict(rows.schema) == TYPES | {"line_number": pl.Int64()}


@pytest.mark.parametrize(
    "line",
    [
        LINE,
        b'{"host":"b","step":-12,"rank":0,"watts":7,"more":null}',
        b'{"host":null,"step":null,"rank":null,"watts":null,"more":"\xc3\xa9"}',
        b'{"host":"","step":9223372036854775807,"rank":1,"watts":-1.5E-7,"more":0}',
    ],
)
def test_a_line_that_is_alike(line: bytes) -> None:
    assert is_alike(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"host":"a","step":1,"rank":2,"more":true,"watts":0.5}',
        b'{"host":"a","step": 1,"rank":2,"watts":0.5,"more":true}',
        b'{"host":"a","step":1,"rank":2,"watts":0.5,"more":true} ',
        b'{"host":"a","step":1,"rank":2,"watts":0.5,"more":true',
        b'{"host":"a","step":1,"rank":2,"watts":0.5,"more":true}}',
        b'{"host":"a","step":01,"rank":2,"watts":0.5,"more":true}',
        b'{"host":"a","step":-0,"rank":2,"watts":0.5,"more":true}',
        b'{"host":"a","step":+1,"rank":2,"watts":0.5,"more":true}',
        b'{"host":"a","step":1.0,"rank":2,"watts":0.5,"more":true}',
        b'{"host":"a","step":"1","rank":2,"watts":0.5,"more":true}',
        b'{"host":"a","step":9223372036854775808,"rank":2,"watts":0.5,"more":1}',
        b'{"host":"a","step":1,"rank":2147483648,"watts":0.5,"more":true}',
        b'{"host":"a","step":1,"rank":2,"watts":.5,"more":true}',
        b'{"host":"a","step":1,"rank":2,"watts":NaN,"more":true}',
        b'{"host":"a","step":1,"rank":2,"watts":1e999,"more":true}',
        b'{"host":"a","step":1,"rank":2,"watts":-0.0,"more":true}',
        b'{"host":"a\\n","step":1,"rank":2,"watts":0.5,"more":true}',
        b'{"host":"a"b","step":1,"rank":2,"watts":0.5,"more":true}',
        b'{"host":"a\tb","step":1,"rank":2,"watts":0.5,"more":true}',
        b'{"host":7,"step":1,"rank":2,"watts":0.5,"more":true}',
        b'{"host":"a","step":1,"rank":2,"watts":0.5,"more":tru}',
        b'{"host":"a","step":1,"rank":2,"watts":0.5,"more":[1]}',
        b'{"host":"a,b","step":1,"rank":2,"watts":0.5}',
        b"",
    ],
)
def test_a_line_that_is_odd_is_not_alike(line: bytes) -> None:
    assert not is_alike(line)


@pytest.mark.parametrize(
    "line",
    [b"", b"1", b"[1]", b"{}", b"{", b'{"a":1,"a":2}', b'{"a":"b,c"}', b'{"a":{}}'],
)
def test_a_line_that_cannot_be_cells(line: bytes) -> None:
    assert alike(line) is None


def test_odd_lines_are_left_and_slow_no_others() -> None:
    good = [b'{"host":"a","step":%d}' % n for n in range(MANY)]
    other = [b'{"step":%d,"rank":1,"watts":2}' % n for n in range(MANY)]
    lines = [b"{", *good, b"", b'{"host":"a","step":1.5}', *other, b"nothing,{"]
    rows, left = typed_lines(block_of(b"\n".join([*lines, b""])), TYPES)
    assert rows["line_number"].to_list() == [*range(2, 32), *range(34, 64)]
    assert rows["rank"].to_list() == [None] * MANY + [1] * MANY
    assert left == [(1, b"{"), (33, b'{"host":"a","step":1.5}'), (64, b"nothing,{")]


def test_a_blank_line_is_no_row() -> None:
    rows, left = typed_lines(block_of(LINE + b"\n\n" + LINE + b"\n\n"), TYPES)
    assert (rows.height, left) == (0, [(1, LINE), (3, LINE)])


def test_a_line_that_was_cut_is_left() -> None:
    long = b'{"host":"' + b"x" * 5000 + b'","step":1}\n'
    rest = b'{"host":"a","step":1}\n' * MANY
    (block,) = blocks(io.BytesIO(long + rest), size=2500, longest=2500)
    rows, left = typed_lines(block, TYPES)
    assert block.cut
    assert (rows.height, [number for number, _ in left]) == (MANY, [1])


NUMBERS = (
    "0 7 -3 +5 007 -0 -0.0 1.5 1e3 1e400 5e-324 -1e-9 0.1 0.30000000000000004 NaN"
    " 1.7976931348623157e308 123456789012345678901234567890 2147483648"
    " 9223372036854775807 9223372036854775808 -9223372036854775808"
)
OTHERS = r'"a" "" "a,b" "\u0041" "é" "a null true [1] {} "a"b"'
BLANK = ("", "7 ", '"a"\t', '"\x01"')
VALUE = st.sampled_from((*NUMBERS.split(), *OTHERS.split(), *BLANK))
PATTERN = st.sampled_from(
    [
        '{{"run_id":{},"step":{},"rank":1,"start_ns":{},"duration_ns":5}}',
        '{{"step": {}, "rank": {}, "start_ns": 3, "duration_ns": {}, "x": 1}}',
        '{{"gpu_uuid":{},"time_ns":5,"power_average_w":{},"host":{}}}',
        '{{"time_ns":{},"gpu_uuid":"g","temperature_c":{},"y":{} }}',
        "{},{},{}",
        "{} {} {}\r",
        "",
    ]
)
KIND = st.tuples(PATTERN, VALUE, VALUE, VALUE)


def read(source: str, data: bytes) -> list[Batch]:
    module = step_table if source == "steps" else power_table
    return list(module.read(io.BytesIO(data), reading()))


def told(batches: list[Batch]) -> object:
    rows = [frame.rows(named=True) for b in batches for frame in b.rows.values()]
    return rows, [b.refused for b in batches], [(b.records, b.repairs) for b in batches]


@given(
    kinds=st.lists(KIND, min_size=1, max_size=5),
    order=st.lists(st.integers(0, 4), max_size=40),
    source=st.sampled_from(["steps", "power"]),
    times=st.integers(1, 25),
)
@settings(max_examples=examples(300), deadline=None)
def test_lines_give_the_same_at_once_and_one_by_one(
    kinds: list[tuple[str, str, str, str]], order: list[int], source: str, times: int
) -> None:
    first = {
        "steps": '{"run_id":"r","step":1,"rank":1,"start_ns":2,"duration_ns":5}',
        "power": '{"gpu_uuid":"g","time_ns":5,"power_average_w":1.5,"host":"h"}',
    }[source]
    lines = [pattern.format(*values) for pattern, *values in kinds] * times
    lines += [lines[n % len(lines)] for n in order]
    data = "\n".join([first, *lines]).encode()
    at_once = told(read(source, data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "typed_lines", none_at_once)
        assert at_once == told(read(source, data))


def none_at_once(
    block: Block, types: dict[str, pl.DataType]
) -> tuple[pl.DataFrame, list[tuple[int, bytes]]]:
    schema = {**types, "line_number": pl.Int64()}
    return pl.DataFrame(schema=schema), list(block.lines())


FLOAT = st.floats(allow_nan=False, allow_infinity=False)


@given(values=st.lists(FLOAT, min_size=1, max_size=50))
@settings(max_examples=examples(200), deadline=None)
def test_floats_are_the_nearest_ones(values: list[float]) -> None:
    data = "\n".join(json.dumps({"watts": value}) for value in values).encode()
    shared = alike(data.partition(b"\n")[0])
    assert shared is not None
    found = typed(data, shared, TYPES)
    assert found is not None
    for value, got, fits in zip(
        values, found["watts"], found["_is_alike"], strict=True
    ):
        assert not fits or repr(got) == repr(value)
        assert fits or repr(value) == "-0.0"


def test_after_some_rare_kinds_the_rest_is_decoded() -> None:
    kinds = [b'{"step":%%d,"k%d":0}' % kind for kind in range(MANY)]
    lines = [kinds[n % MANY] % n for n in range(MANY * MANY)]
    rows, left = typed_lines(block_of(b"\n".join([*lines, b""])), TYPES)
    assert 0 < rows.height < MANY * 8
    assert rows["line_number"].is_sorted()
    assert len(left) == MANY * MANY - rows.height
    assert left == sorted(left)
