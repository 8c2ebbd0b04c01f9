"""The teaching pages: their commands are typed in an empty folder, in order, and print what the pages show. The page
"Is it the same for people?": its study, its survey and its commands, as a reader would type them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from slant.analysis.bridge.r_home import r_installation
from slant.collector.importing.people.columns import OURS
from tests.support.typed_pages import blocks, has_cells, same, typed

TEACHING = ("audit", "filtered", "model_choice")
DRAWN = ("analyze report", "analyze figures", "analyze --fit rating")


def read(root: Path, name: str) -> str:
    return (root / "vignettes" / f"{name}.Rmd").read_text("utf-8")


def lines_of(page: str, language: str) -> list[str]:
    return [line for block in blocks(page, language) for line in block.splitlines()]


def write_files(page: str, folder: Path) -> None:
    for study in blocks(page, "toml"):
        if name := tomllib.loads(study).get("name"):  # a line to add to a study has none
            (folder / f"{name}.toml").write_text(study, "utf-8")


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("name", [*TEACHING, "scheduler", "series"])
def test_the_commands_of_a_page_print_what_it_shows(root: Path, tmp_path: Path, name: str) -> None:
    if r_installation() is None:
        pytest.skip("R is not here")
    page = read(root, name)
    write_files(page, tmp_path)
    commands = [command for command in lines_of(page, "sh") if not command.startswith(DRAWN)]
    printed = [line for command in commands for line in typed(command, tmp_path).splitlines()]
    missing = [line for line in lines_of(page, "") if not any(same(line, p) or has_cells(line, p) for p in printed)]
    assert lines_of(page, "")
    assert missing == []


def test_the_audit_shows_lines_of_the_names_that_a_new_study_has(root: Path, tmp_path: Path) -> None:
    typed("collect studies new audit --design factorial", tmp_path)
    assert (tmp_path / "audit" / "names.csv").read_text("utf-8").startswith(blocks(read(root, "audit"), "csv")[0])


@pytest.mark.slow
def test_the_audit_ends_with_a_report_and_figures(root: Path, tmp_path: Path) -> None:
    for command in lines_of(read(root, "audit"), "sh"):
        typed(command, tmp_path)
    assert (tmp_path / "audit.html").stat().st_size > 100_000
    assert len(list((tmp_path / "figures").glob("amce-*.svg"))) == 2


@pytest.mark.parametrize("name", TEACHING)
def test_a_teaching_page_ends_with_what_may_be_said(root: Path, name: str) -> None:
    assert re.findall(r"^## (.*)$", read(root, name), re.MULTILINE)[-1] == "What may be said"


@pytest.fixture
def page(root: Path) -> str:
    return (root / "vignettes" / "people.Rmd").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_the_commands_of_the_page_say_what_it_shows(page: str, tmp_path: Path) -> None:
    (tmp_path / "traits.toml").write_text(blocks(page, "toml")[0], "utf-8")
    (tmp_path / "survey.csv").write_text(blocks(page, "csv")[0], "utf-8")
    brought, written = (typed(block, tmp_path) for block in blocks(page, "sh")[:2])  # the others ask models, too
    for line in blocks(page, "")[0].strip().splitlines():
        assert line in brought
    assert "2 trials: page/index.html runs them in a browser." in written
    assert (tmp_path / "page" / "timeline.json").exists()


def test_the_page_names_the_columns_that_come_in_by_name(page: str) -> None:
    of_plans = {"group", "option_a", "option_b", "expected", "game"}
    assert [name for name in OURS if f"`{name}`" not in page and name not in of_plans] == []


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_every_command_of_the_page_does_what_it_says(root: Path, tmp_path: Path) -> None:
    page = (root / "vignettes" / "versions.Rmd").read_text("utf-8")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "drinks.toml").write_text(blocks(page, "toml")[0], "utf-8")
    first, edited, asked, shown, by_name = (typed(block, tmp_path) for block in blocks(page, "bash"))
    assert "qwen-cool" in first
    assert "Different: [prompt.wordings] 2. 16 trials would be asked again" in edited
    assert "Done: slant.duckdb" in asked
    assert shown.count("Not shown: 16 answers of version") == 2
    assert "Nothing to ask: all 32 trials have their answers" in by_name


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_next_lines_run_as_they_are_printed(root: Path, tmp_path: Path) -> None:
    page = (root / "vignettes" / "versions.Rmd").read_text("utf-8")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "drinks.toml").write_text(blocks(page, "toml")[0], "utf-8")
    said = typed("collect --study mine/drinks.toml --simulated --db d.duckdb", tmp_path)
    (tmp_path / "mine" / "drinks.toml").unlink()
    (following,) = [line.partition("Next: ")[2] for line in said.splitlines() if "Next: " in line]
    assert "qwen-cool" in typed(following, tmp_path)
