"""The README and the pages of the shell: their commands are typed, in order, and print what the pages show.

`make test` is the one command that can't be tested from inside; `make demo` is run by test_demo.py. The pages about own
studies and about versions have tests of their own (test_own_pages.py, test_own_game.py, test_teaching_pages.py).
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import pytest
from click.testing import CliRunner
from rich.console import Console

from bench.__main__ import main as bench
from bench.__main__ import plan
from slant.analysis.cli.main import analyze
from slant.collector.cli import collect
from tests.support.batch_server import BatchServer
from tests.support.local_server import LocalServer
from tests.support.raw_rows import raw, write_csv
from tests.support.tiny_study import write_tiny
from tests.support.typed_pages import blocks, same

README, ASKING, IMPORTING = "README.md", "vignettes/asking.Rmd", "vignettes/importing.Rmd"
OTHERS = ("registering", "large_runs", "retest", "analysing", "generalising", "bayes", "viewing", "passing_on")
HIRING, INTERFERENCE, MEASUREMENTS = "vignettes/hiring.Rmd", "vignettes/interference.Rmd", "bench/README.md"
PAGES = (README, ASKING, IMPORTING, *(f"vignettes/{name}.Rmd" for name in OTHERS), HIRING, INTERFERENCE, MEASUREMENTS)
PROGRAMS = {"analyze": analyze, "collect": collect}


def blocks_of(root: Path, page: str, language: str) -> list[str]:
    return blocks((root / page).read_text("utf-8"), language)


def shell_commands(root: Path, page: str, start: str = "") -> list[str]:
    """The commands of a page's `sh` blocks, or of the one block whose first command begins with `start`."""
    return [line for block in blocks_of(root, page, "sh") if block.startswith(start) for line in block.splitlines()]


@pytest.fixture(scope="module")
def folder(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader's folder: the checkout's R/ and the study of the README are in it."""
    place = tmp_path_factory.mktemp("readme")
    (place / "R").symlink_to(root / "R")
    (place / "callers.toml").write_text(blocks_of(root, README, "toml")[0], "utf-8")
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
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode in (0, 141), f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def screen_of(width: int) -> Callable[[TextIO], Console]:
    """What prints tables as a terminal of that width shows them."""
    return lambda file: Console(file=file, width=width)


def shown_commands(root: Path) -> list[tuple[str, str]]:
    """Each command of a console with what its page shows that it prints: of the README, in the full suite of all."""
    pages = PAGES if "SLANT_FULL" in os.environ else (README,)
    consoles = [block for page in pages for block in blocks_of(root, page, "console")]
    parts = [part for block in consoles for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def test_the_commands_print_what_the_pages_show(
    root: Path, folder: Path, python: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for command, shown in shown_commands(root):
        lines = [line for line in shown.splitlines() if line.strip()]
        width = 80 if all(len(line) <= 80 for line in lines if line.startswith(" ")) else 120
        monkeypatch.setattr("slant.collector.terminal._console", screen_of(width))
        printed = typed(command, folder, python, OPENAI_API_KEY="")
        missing = [line for line in lines if not any(same(line, p) for p in printed.splitlines())]
        assert not missing, f"{command} printed\n{printed}"


def test_commands_that_take_long_are_ones_that_the_program_has(root: Path) -> None:
    """Those that the other tests don't type: each is asked for its help, which refuses an option that it hasn't got."""
    typed_as_bash = [block for page in PAGES for block in blocks_of(root, page, "bash")]
    lines = [line.partition(" #")[0] for block in typed_as_bash for line in block.splitlines()]
    commands = [shlex.split(line.partition(" > ")[0]) for line in lines if line.strip()]
    assert len(commands) > 30
    for program, *words in commands:
        answer = CliRunner().invoke(PROGRAMS[program], [*words, "--help"])
        assert answer.exit_code == 0, f"{program} {' '.join(words)}: {answer.output}"


@pytest.mark.needs("DBI", "duckdb")
def test_the_r_code_prints_what_the_readme_shows(root: Path, folder: Path, python: list[str]) -> None:
    (code,) = blocks_of(root, README, "r")
    assert code.startswith("library(slant)\n")
    attached = 'for (file in list.files("R", full.names = TRUE)) source(file)\n'
    (folder / "readme.R").write_text(code.replace("library(slant)\n", attached), "utf-8")
    printed = typed("Rscript readme.R", folder, python)
    (shown,) = blocks_of(root, README, "")
    missing = [line for line in shown.splitlines() if not any(same(line, p) for p in printed.splitlines())]
    assert not missing, printed


def test_the_python_code_runs(root: Path, folder: Path, python: list[str]) -> None:
    (code,) = blocks_of(root, README, "python")
    (folder / "readme.py").write_text(f"if __name__ == '__main__':\n{re.sub('^', '    ', code, flags=re.M)}", "utf-8")
    typed("python readme.py", folder, python)
    assert (folder / "fits.rds").stat().st_size > 1000


def test_a_study_of_ones_own_goes_from_nothing_to_a_report(root: Path, folder: Path, python: list[str]) -> None:
    for command in shell_commands(root, README, "collect studies new"):
        typed(command, folder, python)
    assert (folder / "drinks.html").stat().st_size > 10_000


@pytest.mark.slow
def test_the_commands_for_real_models_work_against_a_server_that_stands_for_them(
    root: Path, folder: Path, python: list[str], server: LocalServer
) -> None:
    write_csv(folder / "DeepSeek-R1" / "flowers_insects.csv", [raw()])
    typed_here = [*shell_commands(root, ASKING), *shell_commands(root, IMPORTING)]
    commands = [command for command in typed_here if "hiring" not in command]
    batches = [command for command in commands if "--batch" in command]
    for command in commands:
        if command not in batches:
            here = of_tiny(command, folder).replace("http://localhost:8080/v1", server.base_url)
            typed(here, folder, python, OPENAI_API_KEY="sk-0123456789", OPENAI_BASE_URL=server.base_url)
    of_study = [prompt for prompt in server.prompts if "tea" in prompt]
    assert (len(of_study), len(server.prompts) > 16 + 20) == (16, True)  # two models, and the questions of the check
    with BatchServer() as provider:
        submit, fetch = (of_tiny(command, folder) for command in batches)
        assert "Submitted 8 requests" in typed(submit, folder, python, end=3, **provider.environment())
        provider.finish()
        assert "Done: batch.duckdb" in typed(fetch, folder, python, **provider.environment())


@pytest.mark.slow
def test_the_commands_for_games_work(root: Path, folder: Path, python: list[str]) -> None:
    variants, estimate, play = (command for command in shell_commands(root, ASKING) if "hiring" in command)
    assert "steer_bonus" in typed(variants, folder, python)
    assert "grows with the square of the rounds" in typed(estimate, folder, python)
    assert "Done: hiring.duckdb" in typed(play, folder, python)


def test_the_commands_of_the_measurements_name_groups_that_there_are(root: Path) -> None:
    _, *commands = (line.partition(" #")[0] for line in shell_commands(root, MEASUREMENTS))
    for words in (command.partition(" -m bench ")[2].split() for command in commands):
        assert CliRunner().invoke(bench, [*words, "--help"]).exit_code == 0
        assert {name for name in words if not name.startswith("--")} <= set(plan(quick=True, long=False))


def test_the_readme_is_short_and_shows_its_picture(root: Path) -> None:
    text = (root / README).read_text("utf-8")
    assert len(text.splitlines()) <= 150
    assert "](man/figures/effect_sizes.png)" in text


def headings(page: Path) -> set[str]:
    """What a link to a heading of the page has after its #."""
    lines = page.read_text("utf-8").splitlines()
    return {re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in lines if line[:1] == "#"}


def test_every_link_of_every_page_leads_somewhere(root: Path) -> None:
    pages = [*(root / page for page in (README, MEASUREMENTS, "CONTRIBUTING.md")), *(root / "vignettes").glob("*.Rmd")]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8"))]
    assert len(links) > 20
    for page, link in links:
        if link.startswith("https://"):  # another project's page: no test needs the network
            continue
        file, _, heading = link.partition("#")
        place = page.parent / file if file else page
        assert place.exists(), f"{page.name}: {link}"
        assert not heading or heading in headings(place), f"{page.name}: {link}"
