"""The page "a game of your own": its files and commands are typed in an empty folder, in order, as a reader would."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from slant.analysis.bridge.r_home import r_installation
from slant.collector.designs.allocation.participants import PARTICIPANTS
from slant.collector.errors import StudyError
from slant.collector.plan.conversations import planned_count
from slant.collector.studies.catalogue import load_study, load_variants
from slant.collector.system.shipped_files import studies_dir
from tests.support.typed_pages import blocks, keys_read, typed, typed_in_python, typed_in_r, words_of

NAMES_OF_ITS_OWN = re.compile(
    r"\[(left_out|variants|(variant|condition)_labels|worth|success\.by_.*|.*parts|.*families|.*panels|figures)\]$"
)


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "vignettes" / "own_game.Rmd").read_text("utf-8")


def write_game(page: str, folder: Path) -> Path:
    """The page's file with its second condition."""
    (folder / "mine").mkdir(exist_ok=True)
    file = folder / "mine" / "game.toml"
    file.write_text("\n".join(blocks(page, "toml")[:2]), "utf-8")
    return file


def test_the_page_s_file_is_a_game_as_it_says(page: str, tmp_path: Path) -> None:
    variants = load_variants(write_game(page, tmp_path))
    assert list(variants) == ["base", "unequal"]
    (told,) = re.findall(r"^ok: (\d+) trials a model$", page, re.MULTILINE)
    assert planned_count(variants["base"]) == int(told)
    assert set(PARTICIPANTS) <= set(re.findall(r"`(\w+)`", page))


def test_a_mistake_is_answered_as_the_page_says(page: str, tmp_path: Path) -> None:
    file = write_game(page, tmp_path)
    file.write_text(file.read_text("utf-8").replace("groups =", "groops ="), "utf-8")
    (said,) = re.findall(r"`(game\.toml needs .*?)`", page, re.DOTALL)
    with pytest.raises(StudyError) as error:
        load_study(file)
    assert " ".join(str(error.value).split()) == " ".join(said.split())


def test_the_page_shows_the_example_as_it_ships(page: str) -> None:
    shipped, shown = (studies_dir() / "ultimatum.toml").read_text("utf-8"), blocks(page, "toml")[2]
    assert all(line in shipped for line in shown.splitlines())
    assert set(load_variants("ultimatum")) >= {"proud_south", "costly_refusal"}


def test_the_page_names_every_key_that_a_game_may_have(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = keys_read(monkeypatch, NAMES_OF_ITS_OWN)
    studies = [*load_variants("hiring").values(), *load_variants("ultimatum").values()]
    own = {name for one in studies for name in (*one.data.texts.answers, *one.figures)}
    assert len(read) > 60
    named = words_of(page)
    assert read - named - own == set()


@pytest.mark.slow
def test_the_page_s_commands_are_typed_in_an_empty_folder(page: str, tmp_path: Path) -> None:
    if r_installation() is None:
        pytest.skip("R is not here")
    write_game(page, tmp_path)
    said = "".join(typed(commands, tmp_path) for commands in blocks(page, "sh"))
    assert "ok: 120 trials a model" in said
    assert (tmp_path / "mine.html").stat().st_size > 10_000
    assert list((tmp_path / "figures").glob("stratification*.svg"))
    with duckdb.connect(str(tmp_path / "mine.duckdb"), read_only=True) as connection:
        found = connection.execute("SELECT variant, model, n_games FROM allocation_indices ORDER BY ALL").fetchall()
    assert found == [(variant, model, 8) for variant in ("base", "unequal") for model in ("greedy", "random")]
    (code,), (script,) = blocks(page, "python"), blocks(page, "r")
    assert "p_adjusted" in typed_in_r(script, tmp_path)
    assert "collector" in typed_in_python(code + "\nprint(collector.__name__)\n", tmp_path)
