"""The page "Is it the same for people?": its study, its survey and its commands, as a reader would type them."""

from __future__ import annotations

from pathlib import Path

import pytest

from slant.collector.importing.people.columns import OURS
from tests.support.typed_pages import blocks, typed


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
