"""The truth does not come from what it judges: neither knows the other's code."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

#: What the generator may share with readers and analyses: names of columns and their
#: types, units of time, limits of a run card, and errors.
SHARED = {"ingest.tables", "ingest.times", "ingest.card_parts", "ingest.errors"}

#: Packages and folders that are judged.
JUDGED = ("analysis", "reports", "ingest/sources", "ingest/tables")


def imported(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield every module that a folder's files import, wherever they do."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                yield path, node.module
            elif isinstance(node, ast.Import):
                yield from ((path, name.name) for name in node.names)


def test_the_generator_knows_neither_readers_nor_analyses(project: Path) -> None:
    ours = ("ingest", "analysis", "reports", "pipeline")
    found = {
        (path.name, module)
        for path, module in imported(project / "ingest" / "synthetic" / "cluster")
        if module.split(".")[0] in ours and not module.startswith("ingest.synthetic.")
    }
    assert found
    assert {module for _, module in found} <= SHARED, found


@pytest.mark.parametrize("judged", JUDGED)
def test_what_is_judged_does_not_know_the_generator(project: Path, judged: str) -> None:
    found = list(imported(project / judged))
    assert found
    assert not [one for one in found if one[1].startswith("ingest.synthetic")]
