#!/usr/bin/env bash
# Makes everything that slant needs: R, its packages, and .venv with slant in it. It does only what is missing, so it may run often.
#   SLANT_CRAN     folder or address of a repository of R packages (default: CRAN)
#   SLANT_COMPILE  "yes": also compile R's duckdb where no binary is to be had, which takes half an hour
#   PYTHON         the Python to build .venv from (default: python3)
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
say() { printf 'setup: %s\n' "$*" >&2; }
stop() {
    printf 'Error: %s\n' "$1" >&2
    shift
    [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
    exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

# What decides whether the last set-up still holds; the folder too, because a venv can't be moved.
fingerprint() {
    {
        pwd
        cat pyproject.toml constraints.txt analysis/r_packages.csv analysis/r_home.py tools/setup.sh tools/install_r_packages.R
        "$python" --version
        R --version 2>/dev/null | head -n 1 || true
    } | sha256sum
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Debian's R packages serve Debian's R only; another R gets all of its packages from CRAN.
r_is_debians() { ! has R || [ "$(command -v R)" = /usr/bin/R ]; }

wanted_debs() {
    r_is_debians && printf '%s\n' r-base-core r-base-dev # -dev: rpy2 and CRAN's sources are compiled
    r_is_debians && awk -F, 'NR > 1 && $2 != "" { print $2 }' analysis/r_packages.csv | tr ' ' '\n'
    has "$python" || printf '%s\n' python3
    if ! has "$python" || [ "$(readlink -f "$(command -v "$python")")" = "$(readlink -f /usr/bin/python3)" ]; then
        printf '%s\n' python3-venv python3-dev
    fi
}

missing_debs() {
    local name
    for name in $(wanted_debs); do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || printf '%s\n' "$name"
    done
}

install_debs() {
    local missing
    mapfile -t missing < <(missing_debs)
    [ ${#missing[@]} -gt 0 ] || return 0
    local line="apt-get install -y --no-install-recommends ${missing[*]}"
    if [ "$(id -u)" -ne 0 ] && ! has sudo; then
        stop "Can't install what slant needs: this needs root, and there is no sudo." "Ask an administrator to type: $line" "Then: make setup"
    fi
    say "installing ${#missing[@]} Debian packages: ${missing[*]}"
    local quiet=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
    local log
    log=$(mktemp)
    # Package lists are fetched only when the ones here don't serve: that saves ten seconds on most machines.
    as_root "${quiet[@]}" install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1 || {
        as_root "${quiet[@]}" update >>"$log" 2>&1 || true
        as_root "${quiet[@]}" install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1
    } || {
        tail -n 20 "$log" >&2
        stop "Can't install Debian packages: apt-get ended with an error (above)." "To see it all: sudo $line"
    }
    rm -f "$log"
}

check_without_debian() {
    say "there is no apt-get here; R, a C compiler and Python must be there already, R packages come from CRAN"
    has "$python" || stop "Can't find $python." "Install Python 3.11 or newer, or name one: PYTHON=/path/to/python3 make setup"
}

check_python() {
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        stop "Can't use $("$python" --version): slant needs Python 3.11 or newer." "To name another one: PYTHON=python3.11 make setup"
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        stop "Can't make .venv: $python lacks the modules venv and ensurepip." "Install them (Debian: sudo apt-get install python3-venv), then: make setup"
}

install_python_packages() {
    local rpy2
    mapfile -t rpy2 < <("$python" -P analysis/r_home.py)
    if ! .venv/bin/pip --version >/dev/null 2>&1; then # none yet, its Python is gone, or the folder was moved
        say "making .venv"
        rm -rf .venv
        "$python" -m venv .venv
    fi
    say "installing slant and its Python packages (${rpy2[*]})"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[r,dev]' "${rpy2[@]}" ||
        stop "Can't install the Python packages: pip ended with an error (above)." "If it was the network, type again: make setup"
}

if [ -z "${SLANT_COMPILE:-}" ] && [ -f .setup-done ] && [ -x .venv/bin/slant ] && [ "$(cat .setup-done)" = "$(fingerprint)" ]; then
    exit 0
fi
SECONDS=0
if has apt-get; then install_debs; else check_without_debian; fi
check_python
"$python" -P analysis/r_home.py >/dev/null # stops here where R is missing or too old, and says what to install
Rscript tools/install_r_packages.R
install_python_packages
fingerprint >.setup-done
say "done in $SECONDS s. Next: make demo"
