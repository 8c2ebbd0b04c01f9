#!/usr/bin/env bash
# Runs every kind of test, all of them even where one fails, and says how long each took. `--full` adds the slow ones.
# `--check` runs only what reads the code: ruff, mypy, lint of R.
set -uo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/.venv/bin
export PATH="$bin:$PATH"

passed=() failed=()
stage() {
    local name=$1 began=$SECONDS
    shift
    printf '== %s\n' "$name"
    if "$@"; then passed+=("$name"); else failed+=("$name"); fi
    printf -- '-- %s: %s s\n' "$name" $((SECONDS - began))
}

stage ruff ruff check .
stage "ruff format" ruff format --check --quiet .
stage mypy mypy
stage "lint of R" Rscript tools/lint_r.R
if [ "${1:-}" != --check ]; then
    tools/install_browser.sh
    stage testthat Rscript tests/testthat.R
    if [ "${1:-}" = --full ]; then which="not local"; else which="not slow and not local"; fi
    # a process for each core; the tests of one file stay together, as some of them go on where others ended
    stage pytest pytest -rs -n "$(nproc)" --dist loadfile -m "$which"
fi

[ ${#failed[@]} -eq 0 ] || printf 'failed: %s\n' "${failed[@]}"
printf 'stages: %s passed, %s failed, %s s\n' ${#passed[@]} ${#failed[@]} "$SECONDS"
[ ${#failed[@]} -eq 0 ]
