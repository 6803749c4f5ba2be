"""A block of CSV at once gives what its lines give one by one, or nothing."""

import io

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import step_table
from ingest.sources._lines import Block, blocks
from ingest.sources._lines_csv import cell, split
from ingest.sources._lines_csv_typed import typed_cells
from ingest.sources._places import with_place
from ingest.tables import StepTimings
from tests.examples import examples
from tests.ingest.readings import reading, refused, rows

NAMES = ("run_id", "step", "rank", "other")
TYPES = {"run_id": pl.String(), "step": pl.Int64(), "rank": pl.Int32()}
HEADER = b"run_id,step,rank,other\n"


def block_of(data: bytes) -> Block:
    return next(blocks(io.BytesIO(data)))


def one_by_one(block: Block) -> pl.DataFrame:
    lines = split(block.table(), len(NAMES), quotes=True)
    texts = {name: cell(i) for i, name in enumerate(NAMES) if name in TYPES}
    return lines.select(
        *[
            expr.cast(TYPES[name], strict=False).alias(name)
            for name, expr in texts.items()
        ],
        "place",
    )


def test_numbers_texts_and_empty_cells() -> None:
    block = block_of(HEADER + b"a,12,0,x\r\n,-5,,\n")
    found = typed_cells(block, NAMES, TYPES, has_header=True)
    assert found is not None
    assert found.rows() == [("a", 12, 0, 2), (None, -5, None, 3)]
    assert dict(found.schema) == TYPES | {"line_number": pl.Int64()}


def test_cells_in_quotes_are_what_is_in_them() -> None:
    block = block_of(HEADER + b'"a","12","0","x,"\r\n')
    assert typed_cells(block, NAMES, TYPES, has_header=True) is None
    block = block_of(HEADER + b'"a","12",0,"x"\r\n"",-5,"",\n')
    found = typed_cells(block, NAMES, TYPES, has_header=True)
    assert found is not None
    assert found.rows() == [("a", 12, 0, 2), (None, -5, None, 3)]
    assert dict(found.schema) == TYPES | {"line_number": pl.Int64()}


@pytest.mark.parametrize(
    "line",
    [
        b'"a"b,1,0,x',
        b'"a,1,0,x',
        b'a",1,0,x',
        b'"a""b",1,0,x',
        b'a"b",1,0,x',
        b'",1,0,x',
        b'a,"1.5",0,x',
        b'a,1,0,"x" ',
        b"a, 1,0,x",
        b"a,1,0",
        b"a,1,0,x,y",
        b"",
        b"a,1.0,0,x",
        b"a,1e3,0,x",
        b"a,1,3000000000,x",
        b"a,9223372036854775808,0,x",
        b"a,one,0,x",
        b"a\rb,1,0,x",
    ],
)
def test_an_odd_line_tells_nothing_of_its_block(line: bytes) -> None:
    block = block_of(b"a,1,0,x\n" + line + b"\nb,2,0,x\n")
    assert typed_cells(block, NAMES, TYPES, has_header=False) is None


def test_cells_too_many_and_too_few_do_not_make_up_for_each_other() -> None:
    block = block_of(b"a,1,0\na,1,0,x,y\n")
    assert typed_cells(block, NAMES, TYPES, has_header=False) is None


BARE = ("", "0", "7", "-3", "+5", "007", "9" * 18, "9" * 19, "1.5", "é", "a")
QUOTED = ('"a"', '""', '"7"', '"', 'a"', '"a"b', '"a""b"', '"1.5"', '"007"')
CELL = st.sampled_from((*BARE, *QUOTED))


@given(table=st.lists(st.tuples(CELL, CELL, CELL, CELL), min_size=1, max_size=4))
@settings(max_examples=examples(200))
def test_both_ways_give_the_same_rows(table: list[tuple[str, ...]]) -> None:
    data = "".join(",".join(row) + "\n" for row in table).encode()
    block = block_of(data)
    found = typed_cells(block, NAMES, TYPES, has_header=False)
    if found is not None:
        assert with_place(found).rows() == one_by_one(block).rows()


def test_a_step_table_is_the_same_with_an_odd_line_and_without() -> None:
    text = "step,rank,start_ns,duration_ns\n" + "".join(
        f"{n},0,{n * 10},9\n" for n in range(50)
    )
    plain = list(step_table.read(io.BytesIO(text.encode()), reading()))
    odd = list(step_table.read(io.BytesIO((text + "x,0,1,1\n").encode()), reading()))
    assert rows(plain, StepTimings) == rows(odd, StepTimings)
    assert refused(odd) == [("line 52", "step|integer")]
