# `make demo` shows what slant does; `make test` proves it. Both set up first, which costs nothing once it is done.
.PHONY: help setup demo test test-full test-fresh test-image test-faults bench check docs docs-site dist lock clean

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

setup: ## R, its packages, and .venv with slant in it
	@command -v "$${PYTHON:-python3}" >/dev/null || { echo 'Error: Set-up needs Python 3 (Debian: sudo apt-get install python3).' >&2; exit 1; }
	@"$${PYTHON:-python3}" tools/setup.py

demo: setup ## a simulated RM-IAT from the first question to the report
	@.venv/bin/python tools/demo.py

test: setup ## every test but the slow ones, and what check does
	@.venv/bin/python tools/test.py

test-fresh: ## demo and core tests on fresh Debian 12, 13 and next, as a table (needs root; an hour)
	@python3 tools/fresh.py $(ARGS)

test-full: setup ## every test
	@.venv/bin/python tools/test.py --full

test-local: setup ## a real model on this machine (93 MB once; asks 64 trials)
	@tools/test_local.sh

test-image: ## the lines of the Dockerfile in a fresh root, where there is no Docker (needs root; ten minutes)
	@python3 tools/run_dockerfile.py $(ARGS)

test-faults: setup ## a thousand faults done to real processes at random moments, as a table (needs root for small disks)
	@.venv/bin/python -m tests.faults $(ARGS)

bench: setup ## speed and memory next to a bare loop, as a table (about eight minutes)
	@.venv/bin/python -m bench

check: setup ## ruff, mypy, lint of R
	@.venv/bin/python tools/test.py --check

docs: setup ## help pages and NAMESPACE from the comments in R/
	@Rscript --no-init-file -e 'roxygen2::roxygenise()'

docs-site: setup ## the site into site/: pages, help of commands, Python and R, tables, figures, the demo's report
	@PYTHONPATH=tools .venv/bin/python -m docs_site

dist: setup ## wheel, source archive and R package into dist/, as a release has them
	@.venv/bin/python tools/dist.py $(ARGS)

lock: ## renv.lock and constraints.txt, from what set-up installs in a fresh root of Debian 12 (needs root)
	@python3 tools/lock.py $(ARGS)

clean: ## takes away what set-up and demo made in this folder
	@rm -rf .venv .venv-local local-run .setup-done .setup-log .ledger demo dist fresh site .mypy_cache .pytest_cache .ruff_cache .hypothesis
