# make corpus  create .venv, install, build a recipe, verify and audit it, show it
# make test    create .venv, install everything, run every check and test
# make bench   run every benchmark script anew, and write the table of benchmarks/README.md
#
# Variables: PYTHON (interpreter), VENV (folder), TORCH (requirement), TORCH_INDEX (wheel index, as in
#   make test TORCH_INDEX=https://download.pytorch.org/whl/cpu), PIP_FLAGS;
#   for corpus RECIPE, SOURCES (folder with one folder per source), BENCHMARKS_DIR (folder with one
#   folder per benchmark; SOURCES by default), OUT (corpus folder).

PYTHON ?= python3
VENV ?= .venv
TORCH ?= torch==2.13.0
TORCH_INDEX ?=
PIP_FLAGS ?= --quiet --disable-pip-version-check
RECIPE ?= three_domain_offline
SOURCES ?=
BENCHMARKS_DIR ?=
OUT ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install $(PIP_FLAGS)

.PHONY: test corpus check bench clean

test: $(VENV)/.stamp-dev
	scripts/check

check: test

corpus: $(VENV)/.stamp-base
	@VENV="$(VENV)" RECIPE="$(RECIPE)" SOURCES="$(SOURCES)" BENCHMARKS_DIR="$(BENCHMARKS_DIR)" \
	  OUT="$(OUT)" scripts/corpus

bench: $(VENV)/.stamp-dev
	$(BIN)/python benchmarks/run_all.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.stamp-base: pyproject.toml | $(BIN)/python
	$(PIP) -e .
	touch $@

# torch first and alone: a bare `torch` requirement may pull another build of several gigabytes.
$(VENV)/.stamp-dev: pyproject.toml | $(BIN)/python
	$(PIP) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) "$(TORCH)"
	$(PIP) -e ".[all,dev]"
	touch $@ $(VENV)/.stamp-base

clean:
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache .hypothesis
