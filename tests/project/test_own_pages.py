"""The pages "an association study of your own" and "a forced choice of your own", typed in an empty folder."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from slant.analysis.bridge.r_home import r_installation
from slant.collector.studies.new_study import write_new_study
from tests.support.commands import run_collect
from tests.support.typed_pages import blocks, keys_read, typed, typed_in_python, typed_in_r, words_of

PAGES = {"association": "own_iat.Rmd", "forced_choice": "own_forced_choice.Rmd"}
NAMES_OF_ITS_OWN = re.compile(r"\[(left_out|variants|(variant|condition)_labels|.*frames|fits|sensitivity|figures)\]$")


@pytest.fixture(params=PAGES)
def design(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def page(root: Path, design: str) -> str:
    return (root / "vignettes" / PAGES[design]).read_text("utf-8")


def test_what_the_page_shows_of_a_file_stands_in_it(page: str, design: str, tmp_path: Path) -> None:
    written = "".join(path.read_text("utf-8") for path in write_new_study("drinks", design, tmp_path))
    shown = [*blocks(page, "csv"), *blocks(page, "toml")]
    assert len(shown) == 2
    assert all(text in written for text in shown)


def test_the_check_says_what_the_page_says(page: str, design: str, tmp_path: Path) -> None:
    file = write_new_study("drinks", design, tmp_path)[0]
    said = run_collect("studies", "validate", file)
    assert [said.stderr] == blocks(page, "")
    text = file.read_text("utf-8").replace("~ condition + (1 + condition ||", "~ conditoin + (1 + condition ||", 1)
    file.write_text(text, "utf-8")
    told = run_collect("studies", "validate", file).stderr
    assert design != "association" or re.findall(r"`(its view has no .*?)`,", page)[0] in told


def test_the_page_names_every_key_that_such_a_study_may_have(
    page: str, design: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_new_study("drinks", design, tmp_path)[0]
    read = keys_read(monkeypatch, NAMES_OF_ITS_OWN)
    run_collect("studies", "validate", file)
    assert len(read) > 40
    named = words_of(page)
    assert read - named == set()


@pytest.mark.slow
def test_the_page_s_commands_are_typed_in_an_empty_folder(page: str, design: str, tmp_path: Path) -> None:
    if r_installation() is None:
        pytest.skip("R is not on this machine")
    said = "".join(typed(line, tmp_path) for commands in blocks(page, "sh") for line in commands.splitlines())
    assert blocks(page, "")[0].splitlines()[0] in said
    assert (tmp_path / "drinks.html").stat().st_size > 10_000
    assert list((tmp_path / "figures").glob("specifications*.svg"))
    with duckdb.connect(str(tmp_path / "drinks.duckdb"), read_only=True) as connection:
        fits = connection.execute("SELECT DISTINCT fit FROM fits ORDER BY ALL").fetchall()
    assert {"association": ("lme4",), "forced_choice": ("consistency",)}[design] in fits
    (script,), (code,) = blocks(page, "r"), blocks(page, "python")
    in_r = typed_in_r(script, tmp_path)
    assert "Nothing to ask" in in_r
    assert {"association": "conditioncrossed", "forced_choice": "conditionincongruent"}[design] in in_r
    assert "p_value" in typed_in_python(code, tmp_path)
