"""A small game with two variants, played by participants that are no models, as a study of one's own."""

from __future__ import annotations

from pathlib import Path

from slant.analysis.questions.games.indices import game_indices
from slant.collector import collect
from tests.support.tiny_game import write_game

VARIANTS = '[variants.bonus]\nabout = "a bonus"\ndiversity_bonus = true\n'
RANDOM = '[[models]]\nmodel = "random"\nlabel = "At random"\nprovider = "simulated"\n'
MODELS = ("simulated/greedy", "simulated/random")
FIGURES = """
[variant_labels]
bonus = "with a bonus"
[figures.rewards]
what = "what a bonus does"
title = "Does a bonus matter?"
variants = ["bonus", "base"]
indices = ["si"]
[figures.parts]
what = "by panel"
indices = ["si", "gasi"]
[figures.parts.panels]
"all" = ["base", "bonus"]
"no bonus" = ["base"]
[figures.kin]
what = "by family"
[figures.kin.families]
Simple = ["random", "greedy"]
[figures.luck]
what = "success"
variants = ["bonus"]
indices = ["success_rate"]
"""


def game_file(folder: Path, more: str = "") -> Path:
    """posts.toml with the variants base and bonus; `more` is put at its end."""
    return write_game(folder, ('[[models]]\nmodel = "small"', f'{VARIANTS}{RANDOM}{more}\n[[models]]\nmodel = "small"'))


def played(folder: Path, more: str = "", *, kept: tuple[str, ...] = ("base", "bonus")) -> tuple[Path, Path]:
    """The study's file, and a database of all its games, with the indices of the variants `kept`."""
    study, db = game_file(folder, more), folder / "games.duckdb"
    for variant in ("base", "bonus"):
        collect(
            db,
            str(study),
            list(MODELS),
            variant=variant,
        )
    if kept:
        game_indices(db, str(study), kept, n_boot=20, n_random=20)
    return study, db
