"""Names from data, made fit to be read and to be put into SQL."""

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports._sql import filled, literal, of_runs, where
from reports._words import is_visible, listed, name, plural


def test_control_characters_are_replaced() -> None:
    assert name("a\x1b[31mb\u202ec") == "a\ufffd[31mb\ufffdc"


def test_what_runs_from_right_to_left_is_isolated() -> None:
    assert name("אב") == "\u2068אב\u2069"


def test_endless_names_keep_both_ends() -> None:
    cut = name("node-" + "x" * 500 + "-b12")
    assert len(cut) == 60
    assert cut.startswith("node-x")
    assert cut.endswith("-b12")


def test_nothing_is_a_dash() -> None:
    assert name(None) == "\N{EN DASH}"


def test_lists_and_plurals() -> None:
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(["a", "b", "c", "d"]) == "a, b, c and 1 more"
    assert plural(1, "rank") == "1 rank"
    assert plural(2, "rank") == "2 ranks"


@settings(deadline=None)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_a_literal_is_its_text_and_all_of_it_is_visible(text: str) -> None:
    sql = literal(text)
    assert all(is_visible(character) for character in sql)
    assert duckdb.execute(f"SELECT {sql}").fetchall() == [(text,)]


def test_conditions_on_runs() -> None:
    assert of_runs([]) == "true"
    assert of_runs(["a", "b'"]) == "run_id IN ('a', 'b''')"
    assert of_runs(["a"], or_none=True) == "(run_id IN ('a') OR run_id IS NULL)"
    assert where("true") == ""
    assert where("x", "true", "y") == "WHERE x\n  AND y\n"


def test_a_piece_that_is_missing_is_refused() -> None:
    with pytest.raises(KeyError):
        filled("SELECT $what")
