"""The pages of factorial studies: their ten lines are a study, it names every key, and its commands are typed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from slant.analysis.bridge.r_home import r_installation
from slant.collector.designs import design_named
from slant.collector.studies.new_study import write_new_study
from tests.support.commands import run_collect
from tests.support.typed_pages import blocks, keys_read, typed, words_of

STARTS = design_named("factorial").starts
NAMES_OF_ITS_OWN = re.compile(
    r"\[(factors|templates|questions|personas|scales|left_out|variants|(variant|condition)_labels|fits|figures"
    r"|sensitivity|import|factors\.\w+\.levels.*|simulation\.(utilities|refusals|filtered|malformed|models).*)\]$"
    r"|forbidden\]\] number \d+$"
)
OF_ALL_DESIGNS = {
    "source", "note", "published", "models", "sensitivity", "figures", "variant_labels", "condition_labels", "about",
    "extension", "left_out", "people", "smallest_effect", "temperature", "frame", "refusal_rule", "import", "variants",
    "base_variant",
    "map", "map_models", "measure", "requested_model", "settings", "token_source", "asked_by_default", "reasoning_back",
    "by", "design", "formula", "like", "model", "provider", "title", "view",
    "drop_flags", "drop_outcomes", "outcome", "factors", "removed_words", "kept_words", "removed_last",
}  # fmt: skip
"""Keys that every study may have: other pages say them."""


@pytest.fixture
def page(root: Path) -> str:
    return "\n".join(
        (root / "vignettes" / name).read_text("utf-8") for name in ("factorial.Rmd", "factorial_results.Rmd")
    )


@pytest.fixture
def callers(page: str, tmp_path: Path) -> Path:
    (tmp_path / "callers.toml").write_text(blocks(page, "toml")[0], "utf-8")
    return tmp_path / "callers.toml"


def test_ten_lines_are_a_study_that_is_checked_as_the_page_says(page: str, callers: Path) -> None:
    assert len(blocks(page, "toml")[0].strip().splitlines()) == 10
    said = run_collect("studies", "validate", callers).stderr
    assert said.startswith(blocks(page, "")[0])


def test_the_readme_shows_the_same_ten_lines(root: Path, page: str) -> None:
    shown = tomllib.loads(blocks((root / "README.md").read_text("utf-8"), "toml")[0])
    assert shown == tomllib.loads(blocks(page, "toml")[0])


@pytest.mark.slow
def test_the_fit_that_the_page_shows_is_that_of_a_new_audit(page: str, tmp_path: Path) -> None:
    written = write_new_study("audit", "factorial", tmp_path)[0].read_text("utf-8")
    assert blocks(page, "toml")[-1] in written


@pytest.mark.parametrize("start", STARTS)
def test_the_page_names_every_key_that_such_a_study_may_have(
    page: str, start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_new_study("audit", "factorial", tmp_path, start=start)[0]
    read = keys_read(monkeypatch, NAMES_OF_ITS_OWN)
    run_collect("studies", "validate", file)
    assert len(read) > 40
    assert read - words_of(page) - OF_ALL_DESIGNS == set()


@pytest.mark.slow
def test_the_page_s_commands_are_typed_in_an_empty_folder(page: str, callers: Path) -> None:
    if r_installation() is None:
        pytest.skip("R is not on this machine")
    for commands in blocks(page, "sh"):
        for line in commands.splitlines():
            typed(line, callers.parent)
    assert (callers.parent / "audit.html").stat().st_size > 10_000
    assert "gender" in (callers.parent / "profiles.csv").read_text("utf-8").splitlines()[0].split(",")
