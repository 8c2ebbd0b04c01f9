"""Every option of every command, typed wrong: one sentence, exit code 2, and nothing written.

What a mistake is follows from the option's type, so that a new option is walked over without a word here. The sentences
stand in mistakes.txt; `SLANT_NEW_MISTAKES=1 pytest tests/project/test_mistakes.py` writes it anew, to be read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from slant.analysis.cli.main import analyze
from slant.collector.cli import collect
from slant.collector.keep.database import kept_open
from tests.support.fitted import small_database
from tests.support.sentences import by_sentence

SENTENCES = Path(__file__).with_name("mistakes.txt")
WRONG = {"whole number": ("ten", "1.5", f"{10**30}"), "number": ("much", "nan", "inf"), "choice": ("nonsense",)}
CLICKS_OWN = ("integer", "integer range", "float", "float range")  # whose sentences say "valid integer range"
WRONG |= {"file": (".",), "directory": ("a.csv",)}
# What a command needs so that the mistake is the only one; what names a thing, of which there is none called so.
NEEDED = {"collect": "--study rmiat --simulated --dry-run", "analyze": "--fit effect_size"}
NEEDED |= {"collect check-model": "openai/gpt-4o", "collect import": "a.csv", "collect studies new": "mine"}
NEEDED |= {
    "analyze successor": "o3-mini o3-mini",
    "analyze atlas": "slant.duckdb",
    "collect watch": "rmiat",
    "collect successor": "rmiat --from a --to b",
}
NEEDED |= {"analyze replay": "study.zip", "analyze seal": "--study rmiat"}
NEEDED |= {"collect studies show": "rmiat", "analyze topics search": "--topics 2"}
NEEDED |= {"collect sample": "--study rmiat --n 5"}
NEEDED |= {"collect preregister": "--study rmiat", "collect prompts": "rmiat", "collect set-aside": "r1 --reason why"}
NAMES = ("--study", "--variant", "--fit", "--view", "--run", "--study-version", "--model", "--answer", "--show")
CONTRADICTIONS = (
    "collect --study rmiat --simulated --wait",
    "collect --simulated",
    "collect --seed 3 status",
    "collect --study rmiat --simulated --repetitions 0",
    "collect --study a.csv --simulated",
    "collect import",
    "collect check-model",
    "collect studies new",
    "collect studies validate a.csv",
    "analyze --show words --fit lme4",
    "collect view --where true",
    "collect export --layout scout --format csv",
    "analyze --chains 2 --fit lme4",
    "analyze tables --format csv",
    "analyze tables no_such",
    "analyze figures no_such",
    "analyze figures --variant no_such",
    "analyze figures --width 0.1",
    "analyze permute --study hiring",
    "analyze indices --study rmiat",
    "analyze check --out page.docx",
    "analyze report --out page.xlsx",
    "analyze seal --study hiring --out study.zip --no-r",
    "collect recode --study decision --nonsense",
    "collect recode --study decision --simulated --model=no such",
    "collect studies new mine --design pairing --lists none",
    "collect view --notes none/notes.csv",
    "analyze --fit effect_size --cluster nonsense",
    "analyze --fit effect_size --cluster local:none",
    "analyze --fit effect_size --cluster local:2 --workers 2",
    "analyze doctor --cluster http://scheduler:8786",
    "collect export lake --layout lake --run r1",
    "collect export lake --layout lake --overwrite",
    "collect export --out trials.parquet --format csv",
    "collect view --bundle pages --notes notes.csv",
    "collect --study rmiat --simulated --base-url http://127.0.0.1:9",
    "analyze power --study rmiat --word 250 --residual 3200 --test race_nosek",
)


def commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1])
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, (*path, name))


def wrong_values(option: click.Option) -> Iterator[str]:
    yield from WRONG.get(option.type.name, ())
    assert option.type.name not in CLICKS_OWN, f"{option.opts} wants a WholeNumber or a Number (commands/options.py)"
    least = getattr(option.type, "min", None)
    if least is not None:
        yield str(least - 1)
    if option.opts[0] in NAMES and option.type.name == "text":
        yield "no such"


def mistakes() -> Iterator[str]:
    for start, name in ((collect, "collect"), (analyze, "analyze")):
        for path, command in commands(start, (name,)):
            words = " ".join(filter(None, (*path, NEEDED.get(" ".join(path)))))
            yield f"{words} --nonsense"
            for option in command.params:
                if isinstance(option, click.Option) and not option.is_flag:
                    yield f"{words} {option.opts[0]}="
                    yield from (f"{words} {option.opts[0]}={value}" for value in wrong_values(option))
    yield from CONTRADICTIONS


def said_to(typed: str) -> tuple[int, str]:
    """The exit code, and the sentence after "Error: "."""
    words = [word.replace("=no such", "=no such name") for word in typed.replace("no such", "no\0such").split()]
    words = [word.replace("\0", " ") for word in words]
    done = CliRunner().invoke(collect if words[0] == "collect" else analyze, words[1:])
    assert done.exception is None or isinstance(done.exception, SystemExit), (typed, done.exception)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("Error: ") for line in lines if line.startswith("Error: ")]
    return done.exit_code, errors[0] if errors else f"no error: {lines[:1]}"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("mistakes")
    small_database(folder / "slant.duckdb")
    (folder / "a.csv").write_text("x,y\n1,2\n")
    before = Path.cwd()
    os.chdir(folder)
    with kept_open("slant.duckdb"):  # as they name it: each of the commands that read it would open it for .14 s
        yield folder
    os.chdir(before)


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(file): (file.stat().st_size, file.stat().st_mtime_ns) for file in sorted(folder.rglob("*"))}


def test_every_mistake_ends_in_a_sentence_with_exit_code_2_and_nothing_written(place: Path) -> None:
    before, answers, writers = contents(place), {}, []
    for typed in mistakes():
        answers[typed] = said_to(typed)
        if (after := contents(place)) != before:
            writers.append(typed)
            before = after
    page = by_sentence({typed: sentence for typed, (_, sentence) in answers.items()})
    if os.environ.get("SLANT_NEW_MISTAKES"):
        SENTENCES.write_text(page, "utf-8")
    assert writers == []
    assert {typed: code for typed, (code, _) in answers.items() if code != 2} == {}
    assert len(answers) > 200
    assert page == SENTENCES.read_text("utf-8")
