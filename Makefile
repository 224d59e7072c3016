# Every target sets up what it needs, once, from nothing but Python 3.11.2+ and make.
# `make` alone lists the targets.

.DEFAULT_GOAL := help
SHELL := /bin/sh

PY := .venv/bin/python
# One thread for the numeric libraries: several on few cores spin against each other.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
# Thousands of processes are started by the tests; each would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE
# Tests start a PostgreSQL of their own, which as root runs as a user that `useradd` makes.
export PATH := $(PATH):/usr/sbin:/sbin

# The public data sets, where they are at hand; tests that need them are skipped elsewhere, and always in CI.
ifeq ($(CI),)
export DIAGNOSIS_DATA ?= $(abspath $(wildcard ../shared/data))
endif

DEMO ?=
SERVE ?=
BENCH ?=
SCORE ?=
SEED ?=
DRAFTS ?= 40000
LYING ?=
INTERPRETERS ?=
TEST ?=
JOBS ?= 2
# Some breaks make their tests wait until a limit ends them: one job more than cores keeps these at work.
MUTANT_JOBS ?= 3
# Reports in which the tests of all rows have passed, on this very code; without them they run once more.
PASSED ?=
REPORT ?= .build/tests.xml

.PHONY: help setup demo serve test check format lint types floors docs site proof interpreters lying mutants score bench lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

.venv/.base: requirements/base.txt pyproject.toml dev/setup.sh
	@sh dev/setup.sh base

.venv/.serve: requirements/serve.txt requirements/base.txt pyproject.toml dev/setup.sh
	@sh dev/setup.sh serve

.venv/.dev: requirements/dev.txt requirements/base.txt pyproject.toml dev/setup.sh
	@sh dev/setup.sh dev

.venv/.bench: requirements/bench.txt requirements/dev.txt pyproject.toml dev/setup.sh
	@sh dev/setup.sh bench

setup: .venv/.dev ## make .venv with everything development needs

demo: .venv/.base ## break a simulated system and watch it being diagnosed (DEMO='--fault cpu --seed 7')
	@.venv/bin/diagnose demo $(DEMO)

serve: .venv/.serve ## the service on loopback, with every store and queue it can have (SERVE='--from FOLDER')
	@.venv/bin/diagnose serve $(SERVE)

test: .venv/.dev ## all tests, the large ones at a tenth of their size (TEST='-k budget' to choose)
	@mkdir -p $(dir $(REPORT))
	$(PY) -m pytest -n $(JOBS) --junitxml=$(REPORT) $(TEST)

check: format lint types floors docs test ## all that a change must pass: format, lint, types, floors, docs, tests

format: .venv/.dev ## layout of the code (ruff format; `ruff format .` fixes it)
	$(PY) -m ruff format --check .

lint: .venv/.dev ## ruff, with the bans of the house
	$(PY) -m ruff check .

types: .venv/.dev ## mypy --strict
	$(PY) -m mypy

floors: .venv/.dev ## arrows between rooms point down (import-linter)
	.venv/bin/lint-imports --no-logo floors.toml

docs: .venv/.dev ## write the reference pages that are made from the code; links and claims of all pages
	$(PY) dev/docs.py
	$(PY) -m pytest -q tests/house/test_pages.py tests/house/test_reference.py

.build/site-venv/.made: requirements/site.txt
	@rm -rf .build/site-venv && python3 -m venv .build/site-venv
	@.build/site-venv/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --require-hashes -r requirements/site.txt
	@touch $@

site: .build/site-venv/.made ## the documentation as a website in .build/site; every link is checked
	@.build/site-venv/bin/python dev/build_site.py

proof: .venv/.dev ## the large runs at full size, and the mutants
	@mkdir -p .build
	$(PY) -m pytest -n $(JOBS) --dist worksteal -m proof --proof --timeout=1800 --junitxml=.build/proof.xml
	@$(MAKE) --no-print-directory mutants

interpreters: .venv/.dev ## what depends on the interpreter, on every Python here, also as a user (INTERPRETERS='--only 3.13')
	@$(PY) dev/interpreters.py $(INTERPRETERS)

lying: .venv/.dev ## lies by the thousand past the real release (SEED=7 DRAFTS=40000 LYING='--json OUT')
	@$(PY) -m dev.lying $(if $(SEED),--seed $(SEED)) --drafts $(DRAFTS) $(LYING)

mutants: .venv/.dev ## break the code as docs/conformance.toml says; the row's tests must notice
	$(PY) dev/mutants.py --jobs $(MUTANT_JOBS) $(addprefix --passed ,$(PASSED))

score: .venv/.dev ## diagnose all incidents that are here and write the tables of docs/benchmarks.md (SCORE='--limit 3')
	@$(PY) -m dev.score --jobs $(JOBS) $(SCORE)

bench: .venv/.bench ## speed, against pydantic-ai's agent loop and bare scans (BENCH=--quick)
	$(PY) -m dev.speed $(BENCH)

lock: ## update the lock files (needs uv)
	sh dev/lock.sh

clean: ## remove .venv and everything else that is made
	rm -rf .venv .build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
