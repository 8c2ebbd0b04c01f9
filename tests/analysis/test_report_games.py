"""The report of a game: all variants side by side, what is kept next to chance, and what to type for the rest."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import duckdb
import pytest

from slant import analysis
from tests.support.chromium import PROGRAMS, Browser, chromium
from tests.support.game_made import played

pytestmark = [pytest.mark.slow, pytest.mark.needs("R")]
TELEPHONE = (390, 844)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return played(tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def page(own: tuple[Path, Path]) -> Path:
    return analysis.report(own[1], str(own[0]), own[1].parent / "r.html")


def section(page: str, anchor: str) -> str:
    return re.split(r"<h2 ", page[page.index(f'id="{anchor}-1"') :])[0]


def test_variants_are_one_section_and_every_table_tells_them_apart(page: Path) -> None:
    text = page.read_text("utf-8")
    assert str(page.parent) not in text
    assert text.count('id="indices-') == 1
    for anchor in ("ends", "indices", "choices"):
        assert {"base", "bonus"} <= set(re.findall(r"<td>(\w+)</td>", section(text, anchor))), anchor


def test_indices_stand_beside_chance_and_are_the_kept_ones(own: tuple[Path, Path], page: Path) -> None:
    shown = section(page.read_text("utf-8"), "indices")
    assert "Not made yet" not in shown
    assert "compare each index with its random level" in shown
    with duckdb.connect(str(own[1]), read_only=True) as connection:
        kept = connection.sql(
            "SELECT estimate, conf_low, conf_high, mde FROM game_index_intervals WHERE index = 'si'"
        ).fetchall()
    assert len(kept) == 4
    for *numbers, mde in kept:
        assert "<td>{:.2f} [{:.2f}, {:.2f}]</td>".format(*numbers) in shown
        assert f"<td>{mde:.2f}</td>" in shown


def test_what_is_not_kept_is_named_with_its_command_and_never_computed(own: tuple[Path, Path], tmp_path: Path) -> None:
    db = Path(shutil.copy(own[1], tmp_path / "b.duckdb"))
    with duckdb.connect(str(db)) as connection:
        connection.execute("DELETE FROM game_indices WHERE variant = 'bonus'")
    words = re.sub(r"<[^>]+>", "", analysis.report(db, str(own[0]), tmp_path / "r.html").read_text("utf-8"))
    assert "Intervals and random levels of 2 of 4 cells. To make it, type analyze indices --study posts.toml" in words
    assert "type analyze differences --study posts.toml --between variant --reference base" in words
    with duckdb.connect(str(db), read_only=True) as connection:
        assert connection.execute("SELECT count(DISTINCT variant) FROM game_indices").fetchall() == [(1,)]


@pytest.mark.skipif(chromium() is None, reason=f"none of {', '.join(PROGRAMS)} is on this machine")
def test_it_fits_a_telephone_asks_the_network_for_nothing_and_shows_every_figure(page: Path, tmp_path: Path) -> None:
    with Browser(tmp_path) as browser:
        browser.open(page.as_uri(), *TELEPHONE)
        browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert browser.said == []
        assert [one for one in browser.asked if not one.startswith("data:image/png;")] == [page.as_uri()]
        assert browser.evaluate("document.documentElement.scrollWidth") <= TELEPHONE[0]
        alternatives = browser.evaluate("[...document.images].map(one => one.alt)")
    assert len(alternatives) == 4  # stratification, learning curves, exploration, allocations
    assert all("no model was asked" in text for text in alternatives)
