"""The laws of the house: registries are whole, columns and commands are described."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path

import cyclopts
import pytest

import analysis
import reports
from analysis import ANALYSES, RESULTS
from ingest import sources, tables
from ingest.sources import SOURCES, _console
from ingest.sources._console.format import LineFormat
from ingest.sources.console import LINE_FORMATS
from ingest.tables import TABLES, Table, unit_of
from ingest.tables._columns import UNIT_OF_SUFFIX
from pipeline import commands
from pipeline.cli import app
from pipeline.commands import COMMANDS
from pipeline.settings import Settings
from reports import SECTIONS

EVERY_TABLE = (*TABLES, *RESULTS)
PACKAGES = ("pipeline", "ingest", "analysis", "reports")


def files_of(package_file: str | None) -> set[str]:
    """Public modules beside a package's __init__."""
    assert package_file is not None
    return {path.stem for path in Path(package_file).parent.glob("[!_]*.py")}


def defines(path: Path, name: str) -> bool:
    """Whether a module assigns a name at its top."""
    body = ast.parse(path.read_text()).body
    targets = [
        target
        for node in body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return name in {t.id for t in targets if isinstance(t, ast.Name)}


def test_every_source_is_listed() -> None:
    listed = {source.read.__module__.rpartition(".")[2] for source in SOURCES}
    assert listed == files_of(sources.__file__)
    assert len({source.name for source in SOURCES}) == len(SOURCES)


def test_no_source_may_import_another(project: Path) -> None:
    tools = tomllib.loads((project / "pyproject.toml").read_text())["tool"]
    contracts = {one["type"]: one for one in tools["importlinter"]["contracts"]}
    names = {f"ingest.sources.{name}" for name in files_of(sources.__file__)}
    assert contracts["independence"]["modules"] == sorted(names)


def test_every_format_of_lines_is_listed() -> None:
    names = [f"{_console.__name__}.{name}" for name in files_of(_console.__file__)]
    values = [value for name in names for value in vars(import_module(name)).values()]
    formats = {value.name for value in values if isinstance(value, LineFormat)}
    assert [one.name for one in LINE_FORMATS] == sorted(formats)


def test_every_table_is_listed() -> None:
    listed = {table.__module__.rpartition(".")[2] for table in TABLES}
    assert listed == files_of(tables.__file__)
    assert len({table.sql_name() for table in EVERY_TABLE}) == len(EVERY_TABLE)


def test_every_analysis_is_listed() -> None:
    folder = Path(str(analysis.__file__)).parent
    with_one = {
        p.stem
        for p in folder.glob("[!_]*.py")
        if defines(p, "ANALYSIS") or defines(p, "ROLLUP")
    }
    assert {one.name for one in ANALYSES} == with_one
    assert {table for one in ANALYSES for table in one.outputs} == set(RESULTS)


def test_analyses_come_after_what_they_read() -> None:
    filled = set(TABLES)
    for one in ANALYSES:
        assert set(one.inputs) <= filled, one.name
        filled |= set(one.outputs)


def test_every_section_is_listed() -> None:
    folder = Path(str(reports.__file__)).parent
    with_one = {p.stem for p in folder.rglob("[!_]*.py") if defines(p, "SECTION")}
    assert {s.build.__module__.rpartition(".")[2] for s in SECTIONS} == with_one


def test_every_command_is_listed_and_documented() -> None:
    assert {f.__module__.rpartition(".")[2] for f in COMMANDS} == files_of(
        commands.__file__
    )
    for command in COMMANDS:
        assert command.__doc__
        assert f"Example: gpuledger {command.__name__}" in command.__doc__


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.__name__)
def test_every_command_helps(
    command: object, capsys: pytest.CaptureFixture[str]
) -> None:
    name = getattr(command, "__name__", "")
    app([name, "--help"], result_action="return_value")
    text = capsys.readouterr().out
    assert f"Example: gpuledger {name}" in " ".join(text.split())
    assert isinstance(app[name], cyclopts.App)


@pytest.mark.parametrize("table", EVERY_TABLE, ids=lambda t: t.sql_name())
def test_every_table_and_column_is_described(table: type[Table]) -> None:
    assert table.describe().startswith("One row per ")
    columns = table.columns()
    assert set(table.key) <= set(columns)
    assert table.key
    assert table.day_column is None or table.day_column in columns
    for column in columns.values():
        assert column.description, column.name
        assert column.description.endswith("."), column.name


@pytest.mark.parametrize("table", EVERY_TABLE, ids=lambda t: t.sql_name())
def test_names_carry_units(table: type[Table]) -> None:
    for column in table.columns().values():
        name = re.sub(r"_(max|total)$", "", column.name)
        fitting = [s for s in UNIT_OF_SUFFIX if name.endswith(s) or name == s[1:]]
        expected = UNIT_OF_SUFFIX[max(fitting, key=len)] if fitting else ""
        assert unit_of(column) == expected, column.name


@pytest.mark.parametrize("table", EVERY_TABLE, ids=lambda t: t.sql_name())
def test_nothing_is_unsigned(table: type[Table]) -> None:
    for column in table.columns().values():
        assert not str(column.dtype).startswith("UInt"), column.name


def test_parquet_carries_meaning_and_unit() -> None:
    field = tables.Kernels.arrow_schema().field("start_ns")
    assert field.metadata[b"description"].startswith(b"Start on the device; before")
    assert field.metadata[b"unit"] == b"ns"


@pytest.mark.parametrize("package", PACKAGES)
def test_no_other_distribution_has_our_package(package: str) -> None:
    assert set(packages_distributions().get(package, [])) <= {"gpuledger"}


def test_every_setting_is_described() -> None:
    assert all(field.description for field in Settings.model_fields.values())


def test_a_threshold_has_one_default_in_whatever_analysis_reads_it() -> None:
    pairs = {pair for one in ANALYSES for pair in one.thresholds.items()}
    assert len(pairs) == len({name for name, _ in pairs})


def test_only_dollars_multiplies_by_a_price(project: Path) -> None:
    for path in sorted((project / "reports").rglob("*.py")):
        if path.name != "dollars.py":
            assert not re.search(
                r"usd_per_gpu_hour\s*\*|\*\s*\w*\.?usd", path.read_text()
            )


HEAVY = ("prefect", "altair", "vl_convert", "jinja2", "scipy")


@pytest.mark.thorough
@pytest.mark.parametrize("tokens", [["--version"], ["run", "--help"], ["tables"]])
def test_commands_start_without_what_they_do_not_need(tokens: list[str]) -> None:
    code = (
        "import sys; from pipeline.cli import run_tokens;"
        f"run_tokens({tokens!r});"
        f"sys.exit(', '.join(m for m in {HEAVY!r} if m in sys.modules) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_no_file_names_a_registry_or_a_machine(project: Path) -> None:
    listing = subprocess.run(
        ["git", "ls-files"], cwd=project, capture_output=True, text=True, check=False
    )
    names = listing.stdout.split("\n") if listing.returncode == 0 else []
    told = re.compile(
        r"pypi\.org|pythonhosted|deb\.debian\.org|registry\.npmjs|/(?:work|root)/"
    )
    for name in filter(None, names):
        path = project / name
        if path.suffix in {".gz", ".parquet", ".png"} or path == Path(__file__):
            continue
        assert not told.search(path.read_text(errors="replace")), name
