# Thin: each target is one line that the README explains. Only Python 3.11 or newer,
# with venv, is needed; the first target that is made sets the rest up.

SHELL := /bin/sh
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
APART := not slow and not benchmark and not mutation

.PHONY: demo test thorough bench slow properties mutants lint setup

demo: setup ## the main job over the sample run, ends with the path of the report
	$(BIN)/gpuledger demo

test: setup ## the tests of a change, in three minutes
	$(BIN)/python -m pytest -q -n auto --dist loadfile

thorough: setup ## what CI runs after them: whole lakes, browsers, kills, long properties
	$(BIN)/python -m pytest -q -n auto --dist loadfile -m "thorough and $(APART)"

bench: setup ## speed and memory as ratios against named peers
	$(BIN)/python -m pytest -q -s -m benchmark tests/benchmarks

slow: setup ## proofs that take minutes
	$(BIN)/python -m pytest -q -m slow

properties: setup ## both with all examples of each property, not 12 of them
	GPULEDGER_EXAMPLES=all $(BIN)/python -m pytest -q -n auto --dist loadfile -m "$(APART)"

mutants: setup ## damaged copies of each format: no traceback, no hang, no lost row
	$(BIN)/python -m pytest -q -n auto -m mutation tests/mutation

lint: setup ## style, types and import contracts
	$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/lint-imports

setup: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing: install Python 3.11 or newer (Debian: apt-get install python3-venv), or name one with PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is too old: Python 3.11 or newer is needed; name one with PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "venv is missing: install it (Debian: apt-get install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $@
