"""The page "a game of your own": its files and commands are typed in an empty folder, in order, as a reader would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from slant.analysis.r_home import r_installation
from slant.collector.designs.participants import PARTICIPANTS
from slant.collector.errors import StudyError
from slant.collector.files import studies_dir
from slant.collector.plan import planned_count
from slant.collector.study import load_study, load_variants
from slant.collector.study_files.keys import Table

PROGRAMS = {"collect": "slant.collector", "analyze": "slant.analysis"}
NAMES_OF_ITS_OWN = re.compile(
    r"\[(left_out|variants|variant_labels|worth|success\.by_.*|.*parts|.*families|.*panels|figures)\]$"
)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "vignettes" / "own_game.Rmd").read_text("utf-8")


def blocks(page: str, language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(page) if name == language]


def write_game(page: str, folder: Path) -> Path:
    """The page's file with its second condition."""
    (folder / "mine").mkdir(exist_ok=True)
    file = folder / "mine" / "game.toml"
    file.write_text("\n".join(blocks(page, "toml")[:2]), "utf-8")
    return file


def typed(command: str, folder: Path, root: Path) -> str:
    """What a command prints to both streams; it must end well. The two programs are those of this checkout."""
    keyless = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    ours = "".join(f'{name}() {{ "$PYTHON" -m {package} "$@"; }}\n' for name, package in PROGRAMS.items())
    done = subprocess.run(
        ["bash", "-e", "-c", ours + command], cwd=folder, capture_output=True, text=True, check=False, timeout=300,
        env={**keyless, "PYTHON": sys.executable, "PYTHONPATH": str(root / "python")},
    )  # fmt: skip
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout + done.stderr


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
    read: set[str] = set()
    plain = Table.optional

    def noted(table: Table, key: str, kind: Any, described: str) -> Any:
        read.update([] if NAMES_OF_ITS_OWN.search(table.where) else [key])
        return plain(table, key, kind, described)

    monkeypatch.setattr(Table, "optional", noted)
    studies = [*load_variants("hiring").values(), *load_variants("ultimatum").values()]
    own = {name for one in studies for name in (*one.data.texts.answers, *one.figures)}
    assert len(read) > 60
    named = set(re.findall(r"(?<=[`.])(\w+)(?=[`., ])", page)) | set(re.findall(r"\[(\w+)", page))
    assert read - named - own == set()


@pytest.mark.slow
def test_the_page_s_commands_are_typed_in_an_empty_folder(page: str, root: Path, tmp_path: Path) -> None:
    if r_installation() is None:
        pytest.skip("R is not here")
    write_game(page, tmp_path)
    said = "".join(typed(commands, tmp_path, root) for commands in blocks(page, "sh"))
    assert "ok: 120 trials a model" in said
    assert (tmp_path / "mine.html").stat().st_size > 10_000
    assert list((tmp_path / "figures").glob("stratification*.svg"))
    with duckdb.connect(str(tmp_path / "mine.duckdb"), read_only=True) as connection:
        found = connection.execute("SELECT variant, model, n_games FROM hiring_indices ORDER BY ALL").fetchall()
    assert found == [(variant, model, 8) for variant in ("base", "unequal") for model in ("greedy", "random")]
    in_r_and_python(page, root, tmp_path)


def in_r_and_python(page: str, root: Path, folder: Path) -> None:
    """The page's other blocks, on the same database."""
    (code,), (script,) = blocks(page, "python"), blocks(page, "r")
    sources = f'for (file in list.files("{root / "R"}", full.names = TRUE)) source(file)\n'
    (folder / "own.py").write_text(code + "\nprint(collector.__name__)\n", "utf-8")
    (folder / "own.R").write_text(sources + script.replace("library(slant)\n", ""), "utf-8")
    assert "p_adjusted" in typed("Rscript own.R", folder, root)
    assert "collector" in typed('"$PYTHON" own.py', folder, root)
