"""Mappings: any table becomes rows, and what is not meant is refused with its place."""

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from ingest import mapping
from ingest._mapping_csv import read_csv
from ingest._mapping_layout import Layout
from ingest._mapping_records import RECORD_LINES
from ingest.errors import UnreadableFileError
from ingest.sources import Head
from ingest.tables import Failures, StepTimings, TrainingMetrics
from tests.ingest.mapped import STEPS, TIMED, claim, mapped, parse
from tests.ingest.readings import held, reading, records, refused, repairs, rows

CSV = "step,rank,t,d\n1,0,1700000000.25,1.5\n2,0,1700000001,2\n"

FAILURES = """
[[map]]
files = "*"
table = "failures"
[map.columns]
code = "code"
"""


def test_a_csv_becomes_rows_of_the_table() -> None:
    batches = held(mapped(TIMED, CSV))
    first, second = rows(batches, StepTimings)
    assert first == {
        "place": "line 2",
        "step": 1,
        "rank": 0,
        "start_ns": 1_700_000_000_250_000_000,
        "duration_ns": 1_500_000,
        "run_id": "asked",
        "clock": "host",
        "scope": "rank",
        "step_count": 1,
    }
    assert second["place"] == "line 3"
    assert records(batches) == 2
    assert not refused(batches)


def test_what_is_no_number_is_refused_with_the_rule_and_a_hint() -> None:
    data = 'step,rank,t,d\n1,0,17,"1,024"\n2,0,17,12 ms\n3,0,x,1\n4,0,17,\nx,0,17,1\n'
    batches = mapped(TIMED, data)
    assert refused(batches) == [
        ("line 2", "duration_ns|number"),
        ("line 3", "duration_ns|number"),
        ("line 4", "start_ns|number"),
        ("line 5", "duration_ns|required"),
        ("line 6", "step|integer"),
    ]
    first = batches[0].refused[0]
    assert first.raw == '1,0,17,"1,024"'
    assert first.hint == "expected a decimal number in ms, without separators or a unit"
    assert records(batches) == 5


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("step\trank\tt\td\n1\t0\t17\t2\n", "a.tsv"),
        ("step;rank;t;d\n1;0;17;2\n", "a.csv"),
        ("step|rank|t|d\r\n1|0|17|2\r\n", "a.txt"),
        ("\ufeffstep,rank,t,d,more\n\n1,0,17,2,x\n\n", "a.csv"),
        ('"step","rank","t","d"\n"1","0"," 17 ","2"', "a.csv"),
        ('{"step":1,"rank":0,"t":17,"d":2}\n', "a.jsonl"),
        ('{"d":"2","t":"17","rank":0,"step":1,"x":[1]}', "a.json"),
        ('[{"step":1,"rank":0,"t":17,"d":2.0}]', "a.json"),
        (' [\n {"step":1,"rank":0,"t":1.7e1,"d":2,"o":{"p":"},{"}}\n]\n', "a.json"),
    ],
)
def test_the_form_shows_in_the_content(data: str, name: str) -> None:
    (row,) = rows(mapped(TIMED, data, name), StepTimings)
    values = (row["step"], row["rank"], row["start_ns"], row["duration_ns"])
    assert values == (1, 0, 17_000_000_000, 2_000_000)


def parquet(frame: pl.DataFrame) -> bytes:
    written = io.BytesIO()
    frame.write_parquet(written)
    return written.getvalue()


def test_parquet_keeps_every_digit_and_its_own_stamps() -> None:
    begin = datetime(2024, 7, 1, 12, 0, 0, 123_456, tzinfo=ZoneInfo("Asia/Tokyo"))
    frame = pl.DataFrame(
        {
            "step": [2**62],
            "rank": pl.Series([3], dtype=pl.UInt8),
            "t": [begin],
            "o": [{"took": timedelta(microseconds=7)}],
            "more": [[1, 2]],
        }
    )
    text = STEPS + (
        'start_ns = { field = "t", format = "iso8601" }\n'
        'duration_ns = { field = "o.took", unit = "ns" }\n'
    )
    data = parquet(frame)
    batches = held(mapped(text, data, "p", columns=tuple(frame.columns)))
    (row,) = rows(batches, StepTimings)
    assert row["step"] == 2**62
    assert row["rank"] == 3
    assert row["start_ns"] == int(begin.timestamp()) * 10**9 + 123_456_000
    assert row["duration_ns"] == 7_000
    assert not batches[0].zone_used


def test_parquet_that_is_cut_or_lacks_a_field_is_unreadable() -> None:
    named = 'files = "p"\n'
    text = TIMED.replace("[[map]]\n", f"[[map]]\n{named}")
    whole = parquet(pl.DataFrame({"step": [1]}))
    for data in (whole, whole[:-9]):
        with pytest.raises(UnreadableFileError):
            mapped(text, data, "p", columns=("step",))


def test_nested_json_is_a_path_with_dots_and_a_key_with_dots_wins() -> None:
    text = FAILURES + 'name = "a.b.c"\nmessage = "x.y"\n'
    lines = [
        {"code": "1", "a": {"b": {"c": "deep"}}, "x.y": "flat", "x": {"y": "no"}},
        {"code": 2, "a": {"b": 5}, "x": {"y": [1, 2]}},
        {"code": "3\u00e9\n", "a": None},
    ]
    data = "\n".join(json.dumps(line) for line in lines)
    found = rows(mapped(text, data), Failures)
    told = [(row["code"], row["name"], row["message"]) for row in found]
    assert told == [
        ("1", "deep", "flat"),
        ("2", None, "[1, 2]"),
        ("3\u00e9", None, None),
    ]


def test_json_that_is_damaged_is_refused_object_by_object() -> None:
    data = '[{"code":1},{"code":NaN},7,{"code":2,},{"code":3},]'
    batches = mapped(FAILURES, data, "a.json")
    assert [row["code"] for row in rows(batches, Failures)] == ["1", "3"]
    assert refused(batches) == [
        ("entry 2", "json"),
        ("entry 3", "type"),
        ("entry 4", "json"),
    ]
    assert repairs(batches) == 1
    assert refused(mapped(FAILURES, '[{"code":1},{"co', "a.json")) == [
        ("entry 2", "truncated")
    ]
    assert refused(mapped(FAILURES, '{"code":1}\n{"code":\n', "a")) == [
        ("line 2", "json")
    ]


def test_a_long_list_comes_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest._mapping_json.BLOCK_BYTES", 100)
    listed = [{"code": n, "o": [{"p": "}, {"}] * (n % 3)} for n in range(300)]
    for indent in (None, 1):
        data = json.dumps(listed, indent=indent)
        batches = mapped(FAILURES, data, "a.json")
        assert len(batches) > 50
        found = rows(batches, Failures)
        assert [row["code"] for row in found] == [str(n) for n in range(300)]
        assert [row["place"] for row in found][-1] == "entry 300"
        assert not refused(batches)


def test_a_quoted_cell_may_hold_delimiters_quotes_and_lines() -> None:
    text = FAILURES + 'message = "note"\n'
    data = (
        'code,note\n1,"a, ""b""\n\nc"\n2,5" disk\n3,"x"\n4,"open\n5,plain\n6,too,many\n'
    )
    batches = mapped(text, data)
    told = {
        row["code"]: (row["place"], row["message"]) for row in rows(batches, Failures)
    }
    assert told == {
        "1": ("line 2", 'a, "b"\n\nc'),
        "2": ("line 5", '5" disk'),
        "3": ("line 6", "x"),
        "5": ("line 8", "plain"),
    }
    assert refused(batches) == [("line 7", "open_quote"), ("line 9", "cell_count")]


def test_records_that_go_over_blocks_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.sources._lines.blocks.__defaults__", (b"", 50, 2**20))
    data = "a,b\n" + "".join(f'{n},"one\ntwo {n}"\n' for n in range(100))
    layout = Layout(None, None, header=True, skip=0, comment=None, null=())
    cells = read_csv(
        io.BytesIO(data.encode()), ",", layout, (["a", "b"], ["a"]), reading()
    )
    frame = pl.concat(some.frame for some in cells)
    assert frame["f:b"].to_list() == [f"one\ntwo {n}" for n in range(100)]
    assert frame["place"].to_list() == [f"line {2 * n + 2}" for n in range(100)]
    assert frame["rule"].null_count() == 100


def test_a_quote_that_nothing_closes_does_not_swallow_the_file() -> None:
    lines = [f"{n},x" for n in range(RECORD_LINES + 5)]
    data = "\n".join(["code,note", '0,"open', *lines, '9,"closed"', '9,"open', "7,x"])
    batches = mapped(FAILURES, data)
    assert len(rows(batches, Failures)) == RECORD_LINES + 7
    assert [rule for _, rule in refused(batches)] == ["open_quote"] * 2


def test_lines_before_the_header_comments_and_words_for_nothing() -> None:
    text = TIMED.replace(
        '"step_timings"\n',
        '"step_timings"\nskip = 2\ncomment = "#"\nnull = ["N/A", "-"]\n',
    )
    data = f"report of\nthe night\n# c\n{CSV}# c\n3,-,1700000002,N/A\n"
    batches = mapped(text, data)
    assert [row["place"] for row in rows(batches, StepTimings)] == ["line 5", "line 6"]
    assert refused(batches) == [("line 8", "duration_ns|required")]


@pytest.mark.parametrize(
    "header", ["false", '["1", "2", "3", "4"]'], ids=["numbered", "named"]
)
def test_a_file_without_a_header(header: str) -> None:
    text = TIMED.replace("[[map]]\n", f'[[map]]\nfiles = "log.*"\nheader = {header}\n')
    for name, number in (("step", 1), ("rank", 2), ("t", 3), ("d", 4)):
        text = text.replace(f'"{name}"', f'"{number}"')
    found = rows(mapped(text, "1,0,17,2\n2,0,18,2\n"), StepTimings)
    assert [row["step"] for row in found] == [1, 2]


def test_a_field_that_is_missing_or_there_twice_makes_a_file_unreadable() -> None:
    text = FAILURES + 'message = "note"\n'
    with pytest.raises(UnreadableFileError, match="'note' among 'code', 'n'"):
        mapped(text, "code,n\n1,2\n")
    with pytest.raises(UnreadableFileError, match="one field 'note'"):
        mapped(text, "code,note,note\n1,2,3\n")


def test_the_first_that_is_not_empty_wins_and_its_name_may_be_the_value() -> None:
    columns = """
code.first = ["hw", "sw"]
code.default = "none"
component = { first = ["hw", "sw"], name = true, values = { hw = "gpu", sw = "os" } }
host = { text = "n-{rack}-{slot}" }
"""
    text = FAILURES.replace('code = "code"\n', columns)
    data = "hw,sw,rack,slot\nfan,,1,2\n,boot,1,\n,,,\nfan,boot,3,4\n"
    found = rows(mapped(text, data), Failures)
    assert [(r["code"], r["component"], r["host"]) for r in found] == [
        ("fan", "gpu", "n-1-2"),
        ("boot", "os", None),
        ("none", None, None),
        ("fan", "gpu", "n-3-4"),
    ]


def test_a_word_that_is_not_in_the_list_is_refused_unless_any_is_meant() -> None:
    text = FAILURES + 'severity = { field = "s", values = { "E" = "error" } }\n'
    data = "code,s\n1,E\n2,W\n3,\n"
    batches = mapped(text, data)
    assert [row["severity"] for row in rows(batches, Failures)] == ["error", None]
    assert refused(batches) == [("line 3", "severity|values")]
    any_ = text.replace('"error" }', '"error", "*" = "info" }')
    found = rows(mapped(any_, data), Failures)
    assert [row["severity"] for row in found] == ["error", "info", None]


def test_where_says_which_records_are_meant_and_the_others_make_no_row() -> None:
    where = 'where = { column = "kind", equals = ["a", "b"], differs = "b" }\n'
    text = FAILURES.replace('"failures"\n', f'"failures"\n{where}')
    batches = mapped(text, "code,kind\n1,a\n2,b\n3,c\n4,\n")
    assert [row["code"] for row in rows(batches, Failures)] == ["1"]
    assert not refused(batches)
    assert records(batches) == 4


PAIRS = """
[[map]]
files = "*"
table = "failures"
where = { column = "kind", equals = "start" }
[map.until]
where = { column = "kind", equals = "end" }
by = ["node"]
[map.columns]
code = "code"
host = "node"
time_ns = { field = "t", unit = "epoch_s" }
end_ns = { field = "until.t", unit = "epoch_s" }
"""

#: (node, kind, time): of a, an end before any start; of b, one in the other.
EVENTS = [
    ("a", "end", 1),
    ("a", "start", 2),
    ("b", "start", 3),
    ("b", "start", 4),
    ("b", "end", 5),
    ("a", "end", 6),
    ("b", "note", 7),
    ("b", "end", 8),
    ("a", "start", 9),
]


@pytest.mark.parametrize("block", [10, 4_000_000])
def test_a_start_and_its_end_are_one_row(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "ingest.sources._lines.blocks.__defaults__", (b"", block, 2**20)
    )
    lines = [f"{node},{kind},{time},x" for node, kind, time in EVENTS]
    batches = mapped(PAIRS, "node,kind,t,code\n" + "\n".join(lines) + "\n")
    found = [
        (row["host"], row["time_ns"], row["end_ns"]) for row in rows(batches, Failures)
    ]
    second = 10**9
    assert sorted(found, key=lambda row: row[1]) == [
        ("a", 2 * second, 6 * second),
        ("b", 3 * second, 5 * second),
        ("b", 4 * second, 8 * second),
        ("a", 9 * second, None),
    ]
    assert refused(batches) == [("line 2", "until|no_start")]
    assert records(batches) == len(EVENTS)


def test_rows_that_are_alike_are_numbered_over_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ingest.sources._lines.blocks.__defaults__", (b"", 8, 2**20))
    batches = mapped(FAILURES, "code\n1\n2\n1\n1\n2\n")
    told = [(row["code"], row["occurrence"]) for row in rows(batches, Failures)]
    assert told == [("1", 0), ("2", 0), ("1", 1), ("1", 2), ("2", 1)]


def test_one_file_fills_two_tables() -> None:
    text = TIMED + (
        '[[map]]\ntable = "training_metrics"\n[map.columns]\nstep = "step"\n'
        'loss = "loss"\nskipped = "bad"\n'
    )
    batches = held(mapped(text, "step,rank,t,d,loss,bad\n1,0,17,2,0.1,true\n"))
    assert len(rows(batches, StepTimings)) == 1
    (metric,) = rows(batches, TrainingMetrics)
    assert (metric["loss"], metric["skipped"]) == (0.1, True)
    assert records(batches) == 1


def quality(text: str, stamp: str, **told: Any) -> tuple[object, object, bool]:
    (batch,) = mapped(text, f"code,t\n1,{stamp}\n", **told)
    (row,) = rows([batch], Failures)
    return row["time_ns"], row["time_quality"], batch.zone_used


def test_the_zone_is_that_of_the_mapping_else_of_the_reading() -> None:
    text = FAILURES + 'time_ns = { field = "t", format = "iso8601" }\n'
    noon = 1_719_835_200_000_000_000  # 2024-07-01T12:00Z
    hour = 3_600_000_000_000
    naive = "2024-07-01 12:00"
    assert quality(text, naive) == (noon, "zone_assumed", True)
    tokyo: dict[str, Any] = {"zone": ZoneInfo("Asia/Tokyo"), "zone_basis": "option"}
    assert quality(text, naive, **tokyo) == (noon - 9 * hour, "exact", True)
    assert quality(text, f"{naive}+02:00") == (noon - 2 * hour, "exact", False)
    zoned = text.replace("[[map]]\n", '[[map]]\nzone = "Europe/Berlin"\n')
    assert quality(zoned, naive) == (noon - 2 * hour, "exact", False)
    nearer = zoned.replace('"iso8601"', '"iso8601", zone = "UTC"')
    assert quality(nearer, naive) == (noon, "exact", False)
    assert quality(text, "")[1:] == ("unknown", False)


def test_an_hour_that_daylight_saving_repeats_or_skips() -> None:
    said = 'format = "%Y-%m-%d %H:%M", zone = "Europe/Berlin"'
    text = FAILURES + f'time_ns = {{ field = "t", {said} }}\n'
    twice = datetime(2024, 10, 27, 0, 30, tzinfo=UTC)
    first = int(twice.timestamp()) * 10**9
    assert quality(text, "2024-10-27 02:30")[0] == first
    later = text.replace("}", ', repeated = "latest" }')
    assert quality(later, "2024-10-27 02:30")[0] == first + 3_600 * 10**9
    skipped = mapped(text, "code,t\n1,2024-03-31 02:30\n")
    assert refused(skipped) == [("line 2", "time_ns|stamp")]


def test_the_run_of_a_card_wins_over_the_data_and_the_data_over_an_option() -> None:
    text = TIMED + 'run_id = "run"\n'
    data = "step,rank,t,d,run\n1,0,17,2,mine\n2,0,18,2,\n"

    def runs(**told: Any) -> list[str]:
        return [row["run_id"] for row in rows(mapped(text, data, **told), StepTimings)]

    assert runs(run_id_basis="option") == ["mine", "asked"]
    assert runs(run_id_basis="run_card") == ["asked", "asked"]


def test_a_mapping_without_a_pattern_takes_what_fits_and_nobody_recognizes() -> None:
    source = claim(TIMED, CSV.encode())
    assert source is not None
    assert source.name == "mapping:m"
    assert claim(TIMED, b"step,rank,t\n") is None
    assert claim(TIMED, b"plain words\n") is None
    head = Head("log.csv", CSV.encode())
    other = mapping.claim(head, [], source)
    assert mapping.claim(head, [parse(TIMED)], other) is other
    named = TIMED.replace("[[map]]\n", '[[map]]\nfiles = ["x", "log.*"]\n')
    found = mapping.claim(head, [parse(named, "dir/my map.toml")], other)
    assert found is not None
    assert found.name == "mapping:my-map"
    assert mapping.nearly(Head("x", b"step,rank,t\n"), [parse(TIMED)]) == (
        "mapping m (m.toml) needs also d"
    )


def test_what_a_mapping_says_is_its_digest_and_its_comments_are_not() -> None:
    one, two = parse(TIMED), parse(f"# a comment\n{TIMED}")
    assert one.digest == two.digest
    assert parse(TIMED.replace('"ms"', '"s"')).digest != one.digest


def test_a_name_is_made_safe() -> None:
    assert parse(f'name = "../é\\u001b[31m x"\n{TIMED}').name == "31m-x"
    assert parse(f'name = "//"\n{TIMED}').name == "mapping"
    assert len(parse(f'name = "{"x" * 500}"\n{TIMED}').name) == 60
