"""The page "a study that changes": its file and commands are typed in an empty folder, in order, as a reader would."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.typed_pages import blocks, typed


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
