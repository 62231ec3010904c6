# make test    create .venv, install everything, run every check and test
# make corpus  create .venv, install, build a recipe and show it
#
# Variables: PYTHON (interpreter), VENV (folder), TORCH (requirement), TORCH_INDEX (wheel index, as in
#   make test TORCH_INDEX=https://download.pytorch.org/whl/cpu), PIP_FLAGS,
#   RECIPE and SOURCES (for corpus), OUT (corpus folder).

PYTHON ?= python3
VENV ?= .venv
TORCH ?= torch==2.13.0
TORCH_INDEX ?=
PIP_FLAGS ?= --quiet --disable-pip-version-check
RECIPE ?= logic_offline
SOURCES ?=
OUT ?= out/$(notdir $(basename $(RECIPE)))

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install $(PIP_FLAGS)

.PHONY: test corpus check bench clean

test: $(VENV)/.stamp-dev
	scripts/check

check: test

corpus: $(VENV)/.stamp-base
	$(BIN)/dfdata build --recipe $(RECIPE) --out $(OUT) --force $(if $(SOURCES),--sources-dir $(SOURCES))
	$(BIN)/dfdata verify $(OUT)
	$(BIN)/dfdata show $(OUT) --n 1

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
