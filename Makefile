# `make` lists the targets. Everything runs in .venv, which `make setup` builds from
# pyproject.toml and requirements.lock.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.setup
WORKERS ?= 2

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help setup demo test test-all test-chaos lint bench bench-check benchmarks docs dashboards chart house lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' Makefile

setup: $(STAMP) ## build .venv with the project and its tools

demo: setup ## a ridesharing stream through eight queries on embedded Ray and Spark, in about a minute
	$(BIN)/hamlet run examples/ridesharing/workload.sase --follow --limit 3 --explain-sharing \
	  --input 'generate:ridesharing?events=600000&seed=1&pace=20000'

# The tests in tests/cluster share one Ray and one Spark, so they run in one process. Both parts run
# even if the first one fails.
test: setup ## run the tests, less the slow ones
	@status=0; \
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --ignore tests/cluster $(MARKS) || status=$$?; \
	$(BIN)/pytest -p no:xdist tests/cluster $(MARKS) || status=$$?; \
	exit $$status

test-all: MARKS = -m ""
test-all: test ## run all tests

SEEDS ?= 1 2 3
FAULTS ?= 60
test-chaos: setup ## kill, pause and damage a running job; SEED=7 FAULTS=60 reruns one history
	@PYTHONPATH=tests:. $(BIN)/python -m chaos --faults $(FAULTS) $(or $(SEED),$(SEEDS))

lint: setup ## check style, formatting, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup ## run the benchmark of the exact engine
	$(BIN)/hamlet bench plain

bench-check: setup ## whether a ratio of times has become worse than the committed one
	$(BIN)/hamlet bench check

benchmarks: setup ## write the pages and plots that are made of benchmarks/measured
	$(BIN)/python -m benchmarks.page

docs: setup ## build the documentation into site/
	$(BIN)/zensical build --strict --clean

dashboards: setup ## write the JSON of Grafana's dashboards
	$(BIN)/python -m grafana

chart: setup ## write what the Helm chart holds of other files
	$(BIN)/python deploy/helm

BASE ?= d4ea163
house: setup ## sizes, import cycles and repeated names per layer, beside those of git revision BASE
	@PYTHONPATH=tests $(BIN)/python -m house --base $(BASE) $(HOUSE_FLAGS)

lock: $(BIN)/uv ## remake requirements.lock (LOCK_FLAGS=--upgrade for newer versions)
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal $(LOCK_FLAGS) \
	  --custom-compile-command 'make lock' --quiet --output-file requirements.lock

clean: ## remove .venv and everything that was built
	rm -rf .venv site .cache dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

$(STAMP): pyproject.toml requirements.lock | $(BIN)/uv
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -c requirements.lock -e ".[dev]"
	@touch $@

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Hamlet needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name another one with: make setup PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock uv
