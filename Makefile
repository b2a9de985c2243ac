# Two commands are enough: `make demo` shows what riata does, `make test` checks all of it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint bench docs clean

demo: $(VENV)/.riata
	$(BIN)/riata fit digits49 --k 50 --test digits49:test

test: lint
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: $(VENV)/.riata-test
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

# The paper's picture on digits49, as the table in docs/paper.md.
docs/paper.md: $(VENV)/.riata
	$(BIN)/python benchmarks/paper.py --out $@

clean:
	rm -rf $(VENV)

$(VENV)/.riata: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e . -c constraints.txt
	touch $@

$(VENV)/.riata-test: $(VENV)/.riata
	$(BIN)/python -m pip install --quiet -e '.[test]' -c constraints.txt
	touch $@
