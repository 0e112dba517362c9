# Needs Python 3.11 or later, git and make; everything else is installed into .venv, with uv where it is on PATH.
#
#   make test PYTHON=python3.13             another interpreter (run `make clean` first to change it)
#   make test ARGS='-k deny -n 0'           more arguments for pytest
#   make test VENV=/tmp/env EXTRA=test      another environment, with less in it
#   make bench ARGS='--quick --only cli'    and for benchmarks

VENV := .venv
EXTRA := dev
BIN := $(VENV)/bin
ARGS ?=

.DEFAULT_GOAL := help
# Two targets that install into one environment at the same time would break it.
.NOTPARALLEL:
.PHONY: help demo test test-slow test-more test-browser test-adapters test-clients test-fleet format check docs bench clean

help:
	@echo "make demo       see hooks at work"
	@echo "make test       run the tests"
	@echo "make test-slow  run the tests that take long"
	@echo "make test-more  run the tests that need more than Python, git and make, or take very long"
	@echo "make test-browser  test the pages in a Chromium, which has to be installed"
	@echo "make test-adapters  test the adapters, each with its framework in an environment of its own"
	@echo "make test-clients  test the real coding agents, which npm installs, against a scripted model; ARGS='-k codex' for one"
	@echo "make test-fleet  test the fleet with real NATS servers and PostgreSQL, the long tests included"
	@echo "make check      format, lint, types, layers"
	@echo "make format     rewrite the code in the house style"
	@echo "make docs       write the generated parts of the documentation anew, and build it"
	@echo "make bench      measure, judge and draw"
	@echo "make clean      remove everything that the other targets made"

demo: $(VENV)/.project
	@$(BIN)/interpose demo

test: $(VENV)/.dev
	@$(BIN)/python -m compileall -q src
	@$(BIN)/python -m pytest $(ARGS)

test-slow: $(VENV)/.dev
	@$(BIN)/python -m pytest -m "slow and not more" $(ARGS)

# pytest exits with 5 when there is nothing to run, which is no failure here.
test-more: $(VENV)/.dev
	@$(BIN)/python -m pytest -m more $(ARGS) || test $$? -eq 5
	@HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest $(ARGS) tests/properties

# One after another: each starts a browser.
test-browser: $(VENV)/.browser
	@$(BIN)/python -m pytest -n 0 $(ARGS) tests/browser

test-adapters: $(VENV)/.dev
	@$(BIN)/python -m tools.adapters $(ARGS)

# One agent at a time: each takes as much of a machine as it can get.
test-clients: $(VENV)/.dev
	@$(BIN)/python -m pytest -n 0 -m clients tests/clients $(ARGS)

# Several servers and many processes: nothing else runs beside them.
test-fleet: $(VENV)/.dev
	@$(BIN)/python -m pytest -n 0 -m "" tests/fleet $(ARGS)

format: $(VENV)/.dev
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

check: $(VENV)/.dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy --strict
	$(BIN)/lint-imports --no-logo

docs: $(VENV)/.docs
	@$(BIN)/python -m tools.docs --pages build/pages
	@$(BIN)/zensical build --strict

# Each table makes an environment of its own, with the peers that it is measured against.
bench: $(BIN)/python
	@$(BIN)/python -m benchmarks $(ARGS)

clean:
	rm -rf $(VENV) .bench .cache build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# ---------------------------------------------------------------------------------------------------------------
# The environment. The stamps .project, .dev, .browser and .docs say what was installed; a change of pyproject.toml outdates all.

IS_NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))

# A candidate counts only if it runs: a name on PATH may be a shim with no interpreter behind it.
PYTHON ?= $(shell for candidate in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	if $$candidate -c '$(IS_NEW_ENOUGH)' >/dev/null 2>&1; then echo $$candidate; break; fi; done)

# Some environments forbid Python to write bytecode while it runs, which makes every start slower: compile here. pytest
# compiles its plugins in a way of its own when it loads them.
define install
	@if command -v uv >/dev/null 2>&1; then \
		uv pip install --quiet --compile-bytecode --python $(BIN)/python --editable '$(1)'; \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '$(1)'; \
	fi
	@$(BIN)/python -m compileall -q src
	@if $(BIN)/python -c 'import pytest' 2>/dev/null; then PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --help >/dev/null 2>&1 || true; fi
endef

$(VENV)/.project: pyproject.toml | $(BIN)/python
	$(call install,.)
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(call install,.[$(EXTRA)])
	@touch $(VENV)/.project $@

# Written out, it would end an argument of call.
COMMA := ,
$(VENV)/.browser: pyproject.toml | $(BIN)/python
	$(call install,.[$(EXTRA)$(COMMA)browser])
	@touch $(VENV)/.project $(VENV)/.dev $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(call install,.[docs])
	@touch $(VENV)/.project $@

# Half an environment would pass for a whole one at the next run: on failure nothing stays.
$(BIN)/python:
	@python="$(PYTHON)"; \
	if test -z "$$python"; then \
		echo "make: Python 3.11 or later is needed and was not found on PATH." >&2; \
		echo "      Install it, or name one: make <target> PYTHON=/path/to/python3" >&2; \
		exit 1; \
	fi; \
	if ! "$$python" -c '$(IS_NEW_ENOUGH)'; then \
		echo "make: '$$python' is not a Python 3.11 or later: name another with PYTHON=..." >&2; \
		exit 1; \
	fi; \
	if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet --seed --python "$$python" $(VENV); \
	else \
		"$$python" -m venv $(VENV); \
	fi || { \
		rm -rf $(VENV); \
		echo "make: '$$python' could not create $(VENV) (on Debian and Ubuntu: install python3-venv)." >&2; \
		exit 1; \
	}
