#!/usr/bin/env bash
# A simulated RM-IAT, from the first question to the report, through the same commands that a person types. Needs no key.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"
db=demo/demo.duckdb

show() {
    printf '\n$ %s\n' "$*" >&2
    "$@"
}

rm -rf demo
mkdir demo
SECONDS=0
show collect --study rmiat --simulated --db "$db"
show analyze --fit lme4 --study rmiat --db "$db"
show analyze --fit effect_size --study rmiat --db "$db"
show analyze tables --db "$db"
show analyze compare --study rmiat --summary --db "$db"
show analyze report --db "$db" --out demo/report.html
printf '\nEvery row above is simulated. Done in %s s.\nThe report: %s\n' "$SECONDS" "$PWD/demo/report.html" >&2
