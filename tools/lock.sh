#!/usr/bin/env bash
# Writes down what is installed here: constraints.txt for Python, renv.lock for R.
set -euo pipefail
cd "$(dirname "$0")/.."

{
    sed -n '/^#/p' constraints.txt
    # rpy2 is left out: which one fits depends on the R that is found.
    .venv/bin/python -m pip freeze --exclude-editable --exclude slant --disable-pip-version-check | grep -v '^rpy2-'
} >constraints.new
mv constraints.new constraints.txt
Rscript tools/renv_lock.R
