"""Figures of models of choice in games, drawn from the fits that were kept: what models learn by, next to people, and
how replays of fitted policies settle.
"""

from __future__ import annotations

import polars as pl

from slant.analysis.fitting.kept_choices import newest_fits
from slant.analysis.plots import game_rows
from slant.analysis.plots.figure_data import FigureData, FigureKind
from slant.analysis.questions.games.cells import CELL

_PEOPLE = "human"


def _of_variants(data: FigureData, view: str) -> pl.DataFrame | None:
    """Return the rows of the newest fits, of the variants that are drawn."""
    rows = data.games(view)
    if rows is None:
        return None
    shown = newest_fits(rows).filter(pl.col("game_variant").is_in(game_rows.variants_to_draw(data)))
    return None if shown.is_empty() else shown


def _parameters(data: FigureData) -> pl.DataFrame | None:
    """Return a part for each variant."""
    rows = _of_variants(data, "learner_parameters")
    if rows is None:
        return None
    return game_rows.labelled(with_people(rows), data).with_columns(part=pl.col("variant"))


def with_people(rows: pl.DataFrame) -> pl.DataFrame:
    """Add people's rows to those of each source of models that has their variant, where they are `is_people`."""
    people = rows.filter(source=_PEOPLE).drop("source", "study_version")
    grains = rows.filter(pl.col("source") != _PEOPLE).select("source", "study_version", "game_variant").unique()
    people_rows = grains.sort(grains.columns).join(people, on="game_variant").with_columns(is_people=True)
    return pl.concat([rows, people_rows], how="diagonal").with_columns(pl.col("is_people").fill_null(False))


def _replays(data: FigureData) -> pl.DataFrame | None:
    """Return a part for each variant and model."""
    rows, games = _of_variants(data, "replayed_curves"), data.games("allocation_games")
    if rows is None or games is None:
        return None
    sizes = games.unique(CELL).select(*CELL, "n_groups")
    named = game_rows.labelled(rows.join(sizes, on=CELL, how="left", maintain_order="left"), data)
    return named.with_columns(part=pl.concat_str("variant", "model", separator=" "))


KINDS = {
    "learned_parameters": FigureKind(
        "What choices in games follow, in models and people: parameters of learners (after analyze --fit learning).",
        _parameters, "analyze --fit learning --study {study}",
    ),
    "replayed_curves": FigureKind(
        "How choices settle by round, next to replays of each policy (after analyze --fit policies, learning).",
        _replays, "analyze --fit policies --study {study}",
    ),
}  # fmt: skip
