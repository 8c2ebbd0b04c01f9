"""The README and the pages of the shell: their commands are typed, in order, and print what the pages show.

`make test` is the one command that can't be tested from inside; `make demo` is run by test_demo.py. The pages about own
studies and about versions have tests of their own (test_own_pages.py, test_own_game.py, test_teaching_pages.py).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.__main__ import main as bench
from bench.__main__ import plan
from tests.support.batch_server import BatchServer
from tests.support.local_server import LocalServer
from tests.support.raw_rows import raw, write_csv
from tests.support.readers_folder import (
    COLLECTED,
    FITTED,
    PROGRAMS,
    README,
    blocks_of,
    check_printed,
    readers_folder,
    shell_commands,
    shown_commands,
    typed,
)
from tests.support.tiny_study import write_tiny

ASKING, IMPORTING = "vignettes/asking.Rmd", "vignettes/importing.Rmd"
OTHERS = ("registering", "large_runs", "retest", "analysing", "generalising", "bayes", "viewing", "passing_on")
HIRING, INTERFERENCE, MEASUREMENTS = "vignettes/hiring.Rmd", "vignettes/interference.Rmd", "bench/README.md"
PAGES = (README, ASKING, IMPORTING, *(f"vignettes/{name}.Rmd" for name in OTHERS), HIRING, INTERFERENCE, MEASUREMENTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return readers_folder(tmp_path_factory.mktemp("readme"))


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with LocalServer() as running:
        yield running


def of_tiny(command: str, folder: Path) -> str:
    """The same command for a study of eight trials: that the RM-IAT's 12,920 are asked, the simulated models show."""
    write_tiny(folder)
    return command.replace("collect --study rmiat", "collect --study study.toml").replace("--pilot 50", "--pilot 4")


def test_the_commands_print_what_the_readme_shows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All but those for its paper (test_readme_paper.py)."""
    for command, shown in shown_commands(README):
        if command not in (COLLECTED, FITTED):
            check_printed(command, shown, folder, monkeypatch)


@pytest.mark.slow
def test_the_commands_print_what_all_other_pages_show(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(COLLECTED, folder, OPENAI_API_KEY="")
    typed(FITTED, folder)
    for page in PAGES[1:]:
        for command, shown in shown_commands(page):
            check_printed(command, shown, folder, monkeypatch)


def test_commands_that_take_long_are_ones_that_the_program_has() -> None:
    """Those that the other tests don't type: each is asked for its help, which refuses an option that it hasn't got."""
    typed_as_bash = [block for page in PAGES for block in blocks_of(page, "bash")]
    lines = [line.partition(" #")[0] for block in typed_as_bash for line in block.splitlines()]
    commands = [shlex.split(line.partition(" > ")[0]) for line in lines if line.strip()]
    assert len(commands) > 30
    for program, *words in commands:
        answer = CliRunner().invoke(PROGRAMS[program], [*words, "--help"])
        assert answer.exit_code == 0, f"{program} {' '.join(words)}: {answer.output}"


@pytest.mark.slow
def test_the_commands_for_real_models_work_against_a_server_that_stands_for_them(
    folder: Path, server: LocalServer
) -> None:
    write_csv(folder / "DeepSeek-R1" / "flowers_insects.csv", [raw()])
    typed_here = [*shell_commands(ASKING), *shell_commands(IMPORTING)]
    commands = [command for command in typed_here if "hiring" not in command]
    batches = [command for command in commands if "--batch" in command]
    for command in commands:
        if command not in batches:
            here = of_tiny(command, folder).replace("http://localhost:8080/v1", server.base_url)
            typed(here, folder, OPENAI_API_KEY="sk-0123456789", OPENAI_BASE_URL=server.base_url)
    of_study = [prompt for prompt in server.prompts if "tea" in prompt]
    assert (len(of_study), len(server.prompts) > 16 + 20) == (16, True)  # two models, and the questions of the check
    with BatchServer() as provider:
        submit, fetch = (of_tiny(command, folder) for command in batches)
        assert "Submitted 8 requests" in typed(submit, folder, end=3, **provider.environment())
        provider.finish()
        assert "Done: batch.duckdb" in typed(fetch, folder, **provider.environment())


@pytest.mark.slow
def test_the_commands_for_games_work(folder: Path) -> None:
    variants, estimate, play = (command for command in shell_commands(ASKING) if "hiring" in command)
    assert "steer_bonus" in typed(variants, folder)
    assert "grows with the square of the rounds" in typed(estimate, folder)
    assert "Done: hiring.duckdb" in typed(play, folder)


def test_the_commands_of_the_measurements_name_groups_that_there_are() -> None:
    _, *commands = (line.partition(" #")[0] for line in shell_commands(MEASUREMENTS))
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
