"""What a file looks like that nobody claims, and what comes near it."""

import json
import pickle
import sqlite3
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import files
from ingest._guess import guess, shown
from ingest.sources import SOURCES, Head
from tests.examples import examples
from tests.ingest.mapped import TIMED, parse


def told(data: bytes | str, name: str = "x") -> str:
    return guess(Head(name, data.encode() if isinstance(data, str) else data))


OBJECTS = "\n".join(json.dumps({"a": n, "b": {"c": 1}, "d": [n]}) for n in range(3))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (OBJECTS, "JSON lines with the keys a, b, d; no source claims that"),
        (OBJECTS[:-9], "JSON lines with the keys a, b, d; no source claims that"),
        ('{"a": {"x": 1}, "b": [{"y": 2}], "c": "{"}',
         "a JSON object with the keys a, b, c; no source claims that"),
        ('{\n "a": {"x": 1},\n "b": "cut',
         "a JSON object with the keys a, b; no source claims that"),
        ('[{"a": {"b": 1}, "c": 2}, {"d": 1}]',
         "a JSON list of objects with the keys a, c; no source claims that"),
        ("[1, 2]", "a JSON list"),
        ("{oops", "text that begins like JSON"),
        ("a,b,c\n1,2,3\n", "CSV with the columns a, b, c; no source claims that"),
        ('# note\na,"b,b",c\n1,2,3\n',
         "CSV with the columns a, b,b, c; no source claims that"),
        ("a\tb\tc\n1\t2\t3\n", "TSV with the columns a, b, c; no source claims that"),
        ("a;b;c\n1;2;3\n",
         "CSV with semicolons with the columns a, b, c; no source claims that"),
        ("# HELP x_total what\n# TYPE x_total counter\nx_total 1\n",
         "Prometheus text with the metrics x_total; no source claims that"),
        ("[main]\na = 1\nb = 2\n",
         "settings (INI or TOML) with the keys a, b; no source claims that"),
        ("a: 1\nb: 2\n",
         "settings (YAML or the like) with the keys a, b; no source claims that"),
        ("2024-01-01 10:00:00 x\n2024-01-01 10:00:01 y\n",
         "a log whose lines begin with a time"),
        ("1.5 2\n3 4e-5\n", "numbers without names"),
        ("#!/bin/sh\necho\n", "a script"),
        ("<?xml version='1.0'?><a/>", "XML"),
        ("<!DOCTYPE html><html>", "HTML"),
        (TIMED, "a mapping, which --mapping applies to other files"),
        ("All the words of a sentence.\nAnd of one more.\n", "prose"),
        ("!! $$ 12:// ??\n", "text of no known kind"),
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG image"),
        (b"\x7fELF\x02\x01", "an ELF program or core dump"),
        (b"\xff\xfea\0b\0", "UTF-16 text"),
        (b"PK\x03\x04\x14\0", "a ZIP archive"),
        (b"\x1f\x8b\x08\0", "gzip inside another envelope"),
        (pickle.dumps({"a": 1}), "a Python pickle"),
        (bytes(range(256)), "binary data"),
        (b"PAR1\0\0", "Parquet whose columns cannot be read here"),
    ],
)  # fmt: skip
def test_what_a_file_looks_like(data: bytes | str, said: str) -> None:
    assert told(data) == f"looks like {said}"


def test_the_tables_of_sqlite_and_the_columns_of_parquet(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as base:
        base.execute("CREATE TABLE loss (step INTEGER)")
        base.execute('CREATE TABLE "notes" (text TEXT)')
    base.close()
    said = guess(files.head_of(tmp_path / "a.db"))
    assert "looks like SQLite with the tables" in said
    assert {"loss", "notes"} <= set(said.replace(",", " ").replace(";", " ").split())
    frame = pl.DataFrame({"p": [1], "q": [2]})
    frame.write_parquet(tmp_path / "b.parquet")
    said = guess(files.head_of(tmp_path / "b.parquet"))
    assert said == "looks like Parquet with the columns p, q; no source claims that"


def test_the_nearest_source_or_table_is_named() -> None:
    assert told("JobID|Start|End\n1|2|3\n").endswith(
        "; nearest: sacct, which also needs State"
    )
    assert told("step,rank,duration_ns,x\n1,2,3,4\n").endswith(
        "; nearest: step-table, which also needs start_ns"
    )
    row = {"cluster": "c", "host": "h", "level": "gpu", "time_ns": 1}
    lines = f"{json.dumps(row)}\n{json.dumps(row)}\n"
    assert "4 of 4 are columns of power_samples, which also needs" in told(lines)


def test_a_mapping_that_nearly_fits_is_named() -> None:
    head = Head("x", b"step,rank,d\n1,2,3\n")
    said = guess(head, [parse(TIMED)])
    assert said.endswith("; mapping m (m.toml) needs also t")


def test_names_are_cut_and_harmless() -> None:
    name = "evil\x1b[31m\u202e" + "x" * 300
    said = told(f"{name},b\n b,c\n".replace("b", "b,b"))
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "…" in said
    many = ",".join(f"{n:040}c" for n in range(500))
    assert len(told(f"{many}\n{many}\n")) <= 400
    assert "and 492 more" in told(f"{many}\n{many}\n")
    assert shown("a\nb\r\n c\0") == "a b c\N{REPLACEMENT CHARACTER}"


@settings(max_examples=examples(150))
@given(st.binary(max_size=400) | st.text('{}[]",:\\a1 \n\t;|#=', max_size=400))
def test_any_file_is_told_in_one_short_line(data: bytes | str) -> None:
    said = told(data)
    assert said.startswith("looks like ")
    assert said.isprintable()
    assert len(said) <= 400


@pytest.mark.parametrize(
    "text", ['{"\\"', '"\\"', "{", "[", '{"a":', "a=", "a,\n", '"']
)
def test_a_head_of_one_piece_repeated_takes_no_long(text: str) -> None:
    told(text * (65_536 // len(text)))


def test_files_that_come_with_real_data(shared: Path) -> None:
    failures = shared / "data" / "failures"
    (lanl,) = failures.glob("Derek*/*.csv")
    assert guess(files.head_of(lanl)).startswith(
        "looks like CSV with the columns System, machine type, nodes, procstot"
    )
    (license_,) = failures.glob("stepfun*/LICENSE")
    head = files.head_of(license_)
    assert files.recognize(head, SOURCES) is None
    assert guess(head) == "looks like prose"
