# Two commands are enough: `make demo` shows what riata does, `make test` checks all of it.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint docs paper bench fuzz torture clean

demo: $(VENV)/.riata
	$(BIN)/riata fit digits49 --k 50 --test digits49:test

test: lint docs
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: $(VENV)/.riata-test
	$(BIN)/ruff format --check src tests benchmarks docs/*.py
	$(BIN)/ruff check src tests benchmarks docs/*.py
	$(BIN)/mypy
	$(BIN)/lint-imports

# The paper's experiment in full, as docs/paper.md: some 14 minutes of processor time. Killed, it goes on where it was.
paper: $(VENV)/.riata-test
	$(BIN)/riata reproduce --out build/reproduction
	mkdir -p docs/paper
	cp build/reproduction/figures/*.svg docs/paper/
	sed 's|(figures/|(paper/|' build/reproduction/paper.md > docs/paper.md

# The site, in build/docs; a warning, such as a link that leads nowhere, is an error.
docs: $(VENV)/.riata-docs
	$(BIN)/python -m sphinx -E -W --keep-going -q -b html docs build/docs

# Against peers, at equal certified accuracy. They get an environment of their own: some pin older versions.
bench: $(BENCH)/.riata
	$(BENCH)/bin/python benchmarks/convex.py --out docs/benchmarks.md
	$(BENCH)/bin/python benchmarks/best_k.py --append docs/benchmarks.md
	$(BENCH)/bin/python benchmarks/online.py --out docs/online.md
	$(BENCH)/bin/python benchmarks/sketch.py --out docs/sketch.md
	$(BENCH)/bin/python benchmarks/text.py --out docs/online-text.md

# Hostile files of every format, in processes of their own: what went wrong is a table, and files in build/fuzz.
MINUTES ?= 10
SEED ?= 0
fuzz: $(VENV)/.riata-test
	cd tests && ../$(BIN)/python -m fuzz --minutes $(MINUTES) --seed $(SEED) --keep ../build/fuzz

# Commands killed, asked to end, or on a full disk, at random moments: a table of how often, and of what went wrong.
# Then fits whose memory is measured against their budgets.
torture: $(VENV)/.riata-test
	cd tests && ../$(BIN)/python -m torture --minutes $(MINUTES) --seed $(SEED)
	cd tests && ../$(BIN)/python -m torture.caps --minutes $(MINUTES) --seed $(SEED)

clean:
	rm -rf $(VENV) $(BENCH)

$(VENV)/.riata: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e ".[report]" -c constraints.txt
	touch $@

$(BENCH)/.riata: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet -e '.[bench,report]'
	$(BENCH)/bin/python -m pip install --quiet --no-deps 'adelie>=1.1' || true  # it pins NumPy 1, and runs with 2 (and with IPython)
	touch $@

$(VENV)/.riata-test: $(VENV)/.riata
	$(BIN)/python -m pip install --quiet -e '.[test]' -c constraints.txt
	touch $@

$(VENV)/.riata-docs: $(VENV)/.riata
	$(BIN)/python -m pip install --quiet -e '.[docs]' -c constraints.txt
	touch $@
