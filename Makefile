# Two commands are enough: `make demo` shows what riata does, `make test` checks all of it.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint docs bench clean

demo: $(VENV)/.riata
	$(BIN)/riata fit digits49 --k 50 --test digits49:test

test: lint docs
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: $(VENV)/.riata-test
	$(BIN)/ruff format --check src tests benchmarks docs/*.py
	$(BIN)/ruff check src tests benchmarks docs/*.py
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, in build/docs; a warning, such as a link that leads nowhere, is an error.
docs: $(VENV)/.riata-docs
	$(BIN)/python -m sphinx -E -W --keep-going -q -b html docs build/docs

# The paper's picture on digits49, as the table in docs/paper.md.
docs/paper.md: $(VENV)/.riata
	$(BIN)/python benchmarks/paper.py --out $@

# Against peers, at equal certified accuracy. They get an environment of their own: some pin older versions.
bench: $(BENCH)/.riata
	$(BENCH)/bin/python benchmarks/convex.py --out docs/benchmarks.md
	$(BENCH)/bin/python benchmarks/best_k.py
	$(BENCH)/bin/python benchmarks/online.py --out docs/online.md

clean:
	rm -rf $(VENV) $(BENCH)

$(VENV)/.riata: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e . -c constraints.txt
	touch $@

$(BENCH)/.riata: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet -e '.[bench,report]'
	touch $@

$(VENV)/.riata-test: $(VENV)/.riata
	$(BIN)/python -m pip install --quiet -e '.[test]' -c constraints.txt
	touch $@

$(VENV)/.riata-docs: $(VENV)/.riata
	$(BIN)/python -m pip install --quiet -e '.[docs]' -c constraints.txt
	touch $@
