"""All commands that leave something behind, one after the other in one process, in the folder where it is started.

python -m tests.hostile.every_command BASE_URL some|all
"""

from __future__ import annotations

import os
import sys

from click.testing import CliRunner

from slant.analysis.cli.main import analyze
from slant.collector.cli import collect

ASK = "--study study/study.toml --model openai/gpt-9 --yes --max-retries 0"
SOME = (
    f"collect {ASK} --db a.duckdb",
    "collect check-model openai/gpt-9 --yes --db a.duckdb",
    "collect import --study {here}/study/study.toml --model openai/gpt-9 answers.csv --db a.duckdb",
    "collect merge --db all.duckdb {here}/a.duckdb",
)
OTHERS = (
    f"collect {ASK} --seed 2 --db {{here}}/b.duckdb",
    f"collect {ASK} --dry-run --db a.duckdb",
    "collect merge --db all.duckdb a.duckdb {here}/b.duckdb",
    "collect load --db all.duckdb",
    "collect status --db all.duckdb",
    "collect methods --db a.duckdb",
    "collect recount --db a.duckdb --tokenizer tiktoken:o200k_base",
    "collect studies new mine --design association",
    "analyze tables --db a.duckdb",
    "analyze figures --study study/study.toml --db a.duckdb --out figures",
    "analyze report --study study/study.toml --db a.duckdb --out report.html",
)
GIVEN_AWAY = (
    "collect export --db all.duckdb --view trials --out given/trials.csv --anonymous",
    "collect export --db all.duckdb --view trials --out given/trials.jsonl --anonymous",
    "collect export --db all.duckdb --out given/trials.parquet --anonymous",
    "collect export --db all.duckdb --layout scout --out given/scout/trials.parquet --anonymous",
    "collect export --db all.duckdb --layout lake given/lake --anonymous",
    "collect view --db all.duckdb --bundle given/pages --where true --anonymous",
)


def run(typed: str) -> None:
    program, *words = typed.format(here=os.getcwd()).split()
    done = CliRunner().invoke({"collect": collect, "analyze": analyze}[program], words, prog_name=program)
    sys.argv = [program, *words]
    sys.stdout.write(f"{typed}: exit code {done.exit_code}\n{done.output}")


if __name__ == "__main__":
    os.environ["OPENAI_BASE_URL"] = sys.argv[1]
    for command in SOME if sys.argv[2] == "some" else (*SOME, *OTHERS, *GIVEN_AWAY):
        run(command)
