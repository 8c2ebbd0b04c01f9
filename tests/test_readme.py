"""The README: its commands are typed, in order, and say what it says they say.

`make test` is the one command that can't be tested from inside; `make demo` is run by test_demo.py.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from slant.analysis.cli.analyze import analyze
from slant.collector.cli import collect
from tests.batch_server import BatchServer
from tests.local_server import LocalServer
from tests.raw_rows import raw, write_csv
from tests.tiny_study import write_tiny

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
PROGRAMS = {"analyze": analyze, "collect": collect}
DRAWN = ("analyze report", "analyze figures")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(root: Path, language: str) -> list[str]:
    return [body for name, body in BLOCK.findall((root / "README.md").read_text("utf-8")) if name == language]


@pytest.fixture(scope="module")
def folder(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a reader would stand: a folder with the checkout's R/ in it."""
    place = tmp_path_factory.mktemp("readme")
    (place / "R").symlink_to(root / "R")
    return place


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with LocalServer() as running:
        yield running


def of_tiny(command: str, folder: Path) -> str:
    """The same command for a study of eight trials: that the RM-IAT's 12,920 are asked, the simulated models show."""
    write_tiny(folder)
    return command.replace("collect --study rmiat", "collect --study study.toml").replace("--pilot 50", "--pilot 4")


def typed(command: str, folder: Path, python: list[str], end: int = 0, **more: str) -> str:
    """What a command prints to stdout and stderr when it is typed in `folder`; it must end well.

    Our own two programs run in this process, which has read R and all modules already, and the shell gets their rows.
    """
    ours, _, rest = command.partition(" | ")
    program, *words = shlex.split(ours, comments=True)
    if program not in PROGRAMS:
        return in_shell(command, folder, python)
    with contextlib.chdir(folder):
        answer = CliRunner(env=more).invoke(PROGRAMS[program], words, prog_name=program)
    assert answer.exit_code == end, f"{command}\n{answer.output}\n{answer.exception!r}"
    return (in_shell(rest, folder, python, answer.stdout) if rest else answer.stdout) + answer.stderr


def in_shell(command: str, folder: Path, python: list[str], stdin: str = "") -> str:
    path = f"{Path(python[0]).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=folder, input=stdin, capture_output=True, text=True, timeout=300,
        check=False, env={**os.environ, "PATH": path},
    )  # fmt: skip
    assert done.returncode in (0, 141), f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def same(shown: str, printed: str) -> bool:
    """The same words and numbers; another processor may give other last digits."""
    there, here = NUMBER.findall(shown), NUMBER.findall(printed)
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed) or len(there) != len(here):
        return False
    return all(math.isclose(float(a), float(b), rel_tol=1e-4) for a, b in zip(there, here, strict=True))


def shown_commands(root: Path) -> list[tuple[str, str]]:
    """Each command of a console with what the README shows that it prints."""
    parts = [part for block in blocks(root, "console") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def test_the_commands_print_what_the_readme_shows(root: Path, folder: Path, python: list[str]) -> None:
    for command, shown in shown_commands(root):
        if not command.startswith(DRAWN):
            printed = typed(command, folder, python, OPENAI_API_KEY="")
            missing = [line for line in shown.splitlines() if not any(same(line, p) for p in printed.splitlines())]
            assert not missing, f"{command} printed\n{printed}"


@pytest.mark.slow
def test_the_report_and_the_figures_are_drawn(root: Path, folder: Path, python: list[str]) -> None:
    commands = [command for command, _ in shown_commands(root)]
    if not (folder / "slant.duckdb").exists():
        typed(commands[0], folder, python)
    for command in commands:
        if command.startswith(DRAWN):
            typed(command, folder, python)
    assert (folder / "report.html").exists()
    assert list((folder / "figures").glob("*.svg"))


def test_commands_that_take_long_are_ones_that_the_program_has(root: Path) -> None:
    """Those that the other tests don't type: each is asked for its help, which refuses an option that it hasn't got."""
    lines = [line.partition(" #")[0] for block in blocks(root, "bash") for line in block.splitlines()]
    lines += [command for command, _ in shown_commands(root) if command.startswith(DRAWN)]
    commands = [shlex.split(line.partition(" > ")[0]) for line in lines if line.strip()]
    assert len(commands) > 12
    for program, *words in commands:
        answer = CliRunner().invoke(PROGRAMS[program], [*words, "--help"])
        assert answer.exit_code == 0, f"{program} {' '.join(words)}: {answer.output}"


@pytest.mark.needs("DBI", "duckdb")
def test_the_r_code_prints_what_the_readme_shows(root: Path, folder: Path, python: list[str]) -> None:
    (code,) = blocks(root, "r")
    (folder / "readme.R").write_text(code, "utf-8")
    printed = typed("Rscript readme.R", folder, python)
    (shown,) = blocks(root, "")
    assert shown.strip() in printed


def test_the_python_code_runs(root: Path, folder: Path, python: list[str]) -> None:
    (code,) = blocks(root, "python")
    (folder / "readme.py").write_text(f"if __name__ == '__main__':\n{re.sub('^', '    ', code, flags=re.M)}", "utf-8")
    typed("python readme.py", folder, python)
    assert (folder / "fits.rds").stat().st_size > 1000


def test_a_study_of_ones_own_goes_from_nothing_to_a_report(root: Path, folder: Path, python: list[str]) -> None:
    for command in blocks(root, "sh")[1].splitlines():
        typed(command, folder, python)
    assert (folder / "drinks.html").stat().st_size > 10_000


def test_the_commands_for_real_models_work_against_a_server_that_stands_for_them(
    root: Path, folder: Path, python: list[str], server: LocalServer
) -> None:
    live, batches, _, imported = (block.splitlines() for block in blocks(root, "sh")[2:])
    write_csv(folder / "DeepSeek-R1" / "flowers_insects.csv", [raw()])
    for command in [*live, *imported]:
        here = of_tiny(command, folder).replace("http://localhost:8080/v1", server.base_url)
        typed(here, folder, python, OPENAI_API_KEY="sk-0123456789", OPENAI_BASE_URL=server.base_url)
    of_study = [prompt for prompt in server.prompts if "tea" in prompt]
    assert (len(of_study), len(server.prompts) > 16 + 20) == (16, True)  # two models, and the questions of the check
    with BatchServer() as provider:
        submit, fetch = (of_tiny(command, folder) for command in batches)
        assert "Submitted 8 requests" in typed(submit, folder, python, end=3, **provider.environment())
        provider.finish()
        assert "Done: batch.duckdb" in typed(fetch, folder, python, **provider.environment())


def test_the_commands_for_games_work(root: Path, folder: Path, python: list[str]) -> None:
    variants, estimate, play = blocks(root, "sh")[4].splitlines()
    assert "steer_bonus" in typed(variants, folder, python)
    assert "grows with the square of the rounds" in typed(estimate, folder, python)
    assert "Done: hiring.duckdb" in typed(play, folder, python)


def test_the_picture_is_there_and_every_link_leads_somewhere(root: Path) -> None:
    text = (root / "README.md").read_text("utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert "man/figures/effect_sizes.png" in links
    assert [link for link in links if not (root / link.partition("#")[0]).exists()] == []
