"""The list of formats: one declaration, in the command and in README."""

from pathlib import Path

import pytest

from ingest.errors import TelemetryError
from ingest.sources import SOURCES
from pipeline import answers, formats_table


def test_the_list_of_readme_is_the_one_that_is_declared(project: Path) -> None:
    text = (project / "README.md").read_text(encoding="utf-8")
    mend = "python -m pipeline.formats_table writes it"
    assert formats_table.rewritten(text) == text, mend


def test_every_format_is_listed_and_there_are_thirty() -> None:
    listed = [(name, about) for name, *_, about in formats_table.rows()]
    for source in SOURCES:
        for one in source.formats:
            assert (one.name, one.describes) in listed
    assert len(listed) >= 30
    assert len(set(listed)) == len(listed)


def test_the_command_lists_what_readme_lists(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers.describe_sources()
    head, _, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["format", "source", "fills", "describes"]
    rows = formats_table.rows()
    assert [line.split()[0] for line in lines] == [name for name, *_ in rows]
    assert all(row[-1] in line for row, line in zip(rows, lines, strict=True))


def test_a_source_of_another_name_is_told() -> None:
    told = {name: source for name, source, *_ in formats_table.rows()}
    assert told["megatron"] == "console"
    assert told["sacct"] == ""
    assert {*told.values()} - {"", "mapping:<its name>"} < {s.name for s in SOURCES}


def test_a_document_is_rewritten_between_its_markers(tmp_path: Path) -> None:
    path = tmp_path / "R.md"
    old = f"before\n{formats_table.START}\nstale row\n{formats_table.END}\nafter\n"
    path.write_text(old)
    formats_table.main(path)
    new = path.read_text()
    assert new == f"before\n{formats_table.markdown()}\nafter\n"
    assert "stale row" not in new


@pytest.mark.parametrize("text", ["", formats_table.START, formats_table.END])
def test_a_document_without_markers_is_refused(text: str) -> None:
    with pytest.raises(TelemetryError, match="once"):
        formats_table.rewritten(text)


def test_a_bar_in_a_description_does_not_part_a_cell() -> None:
    for line in formats_table.markdown().splitlines():
        if line.startswith("| `"):
            assert line.replace("\\|", "").count("|") == 5
