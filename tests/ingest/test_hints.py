"""Every refused record says why, also where its reader says nothing."""

import io
from pathlib import Path

import polars as pl
import pytest

from ingest._hints import BY_CHECK, BY_RULE, hinted
from ingest._schema import schema_of
from ingest.lake import snapshot
from ingest.sources import kernel_log
from ingest.tables import RejectedRows
from pipeline.cli import run_tokens
from tests.ingest.readings import reading

STEPS = "step,rank,start_ns,duration_ns\n"


def hints(folder: Path, files: dict[str, str]) -> dict[str, str]:
    """The hints of a lake of some files, by place."""
    inbox = folder / "inbox"
    inbox.mkdir()
    for name, text in files.items():
        (inbox / name).write_text(text)
    lake = folder / "lake"
    run_tokens(["ingest", str(inbox), "--lake", str(lake), "--quiet"])
    rows = snapshot(lake).scan(RejectedRows).select("place", "hint").collect()
    return dict(rows.iter_rows())


@pytest.mark.parametrize(
    ("rule", "given", "told"),
    [
        ("truncated_line", None, BY_RULE["truncated"]),
        ("duration_ns|min", None, "duration_ns: less than it can be"),
        ("state|check", None, f"state: {BY_CHECK['check']}"),
        ("truncated", "its own", "its own"),
        ("of no table", None, None),
        ("x|of no table", None, None),
    ],
)
def test_a_hint_by_rule(rule: str, given: str | None, told: str | None) -> None:
    row = {"file_id": "f", "table_name": "t", "place": "p", "rule": rule, "raw": ""}
    frame = pl.DataFrame([row | {"hint": given}], schema=schema_of(RejectedRows))
    assert hinted(frame)["hint"].to_list() == [told]


def test_an_equal_key_names_the_row_that_has_it(tmp_path: Path) -> None:
    row = "1,0,1700000000000000000,{}\n"
    told = hints(tmp_path, {"a.csv": STEPS + "".join(map(row.format, (9, 9, 8)))})
    same = 'the same key (run_id "inbox", attempt null, step 1, rank 0, '
    assert told["line 3"].startswith(same)
    assert told["line 3"].endswith("is already at line 2")
    assert told["line 4"].endswith("is already at line 2, with other values")


def test_a_key_of_another_file_is_told_in_words(tmp_path: Path) -> None:
    row = "1,0,1700000000000000000,9\n"
    other = "2,0,1700000001000000000,9\n"
    told = hints(tmp_path, {"a.csv": f"{STEPS}{row}", "b.csv": f"{STEPS}{other}{row}"})
    ((place, hint),) = told.items()
    assert place.startswith('run_id "inbox", attempt null, step 1, rank 0, ')
    named = "run_id, attempt, step, rank, scope, start_ns"
    says = f"the same key ({named}) is in another file, whose row is kept"
    assert hint == says


def test_a_record_of_too_few_fields_says_how_many(tmp_path: Path) -> None:
    text = "JobID|State|Start|End\n1|COMPLETED|2024-01-01T00:00:00\n"
    told = hints(tmp_path, {"sacct.txt": text})
    assert told["line 2"] == "expected 4 fields as in the header, found 3"


def test_an_sxid_is_shown_an_sxid() -> None:
    lines = (
        b"[    1.000000] nvidia-nvswitch0: SXid (PCI:0000:05:00.0)\n"
        b"[    2.000000] NVRM: Xid (oops)\n"
    )
    batches = kernel_log.SOURCE.read(io.BytesIO(lines), reading())
    told = {refusal.hint for batch in batches for refusal in batch.refused}
    assert told == {
        "expected `SXid (PCI:0000:05:00.0): 12028, ...`",
        "expected `Xid (PCI:0000:5d:00): 79, ...`",
    }
