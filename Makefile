# What a change runs through. `make setup` once; then `make check` before every commit, fast checks first.

PYTHON ?= python3
BIN := .venv/bin
COMPILE := $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --no-annotate --no-header $(UPGRADE)

.PHONY: check setup format lint types contracts docs test locks bench

check: format lint types contracts docs test

setup:
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q -c locks/dev.txt -e '.[app,test,dev]'

format:
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

lint:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types:
	$(BIN)/pyright --pythonpath $(BIN)/python

contracts:
	$(BIN)/lint-imports --no-logo

# Writes docs/reference anew from the code; a test fails when what is committed is not what this writes.
docs:
	$(BIN)/python tools/write_reference.py

test:
	$(BIN)/python -m pytest

# Plain pins, one file an extra, each made under the pins of the one before. `make locks UPGRADE=--upgrade` moves them.
locks:
	$(COMPILE) --extra app --extra web -o locks/app.txt
	$(COMPILE) --extra app --extra test -c locks/app.txt -o locks/test.txt
	$(COMPILE) --extra app --extra test --extra dev -c locks/test.txt -o locks/dev.txt

bench: $(wildcard benchmarks/*.py)
	@for script in $^; do echo "== $$script"; $(BIN)/python $$script || exit 1; done
