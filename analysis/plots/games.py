"""Figures of games in which groups are chosen for classes of jobs: of all variants side by side, as the study says, or
of one variant. Indices are those that `analyze indices` kept, never new ones.
"""

from __future__ import annotations

from functools import partial

import polars as pl

from slant.analysis.plots import game_rows
from slant.analysis.plots.figure_data import FigureData, FigureKind
from slant.analysis.questions.games.cells import CELL
from slant.analysis.questions.games.indices import controlled_rows
from slant.collector.studies.catalogue import Study
from slant.collector.study.records import StudyFigure

STRATIFICATION = "stratification"
SUCCESS = "success_rate"
_INDICES = "analyze indices --study {study}"
_WHAT = "How stratified games became, by model and answer format, with people and chance (after analyze indices)."


def study_figure_kinds(study: Study) -> dict[str, FigureKind]:
    """Return the figures that the study itself names; of one that names none, its variants side by side."""
    if not study.design.compares_variants:
        return {}
    study_figures = study.figures or {
        STRATIFICATION: StudyFigure(STRATIFICATION, _WHAT, None, ("si", "bgd"), study.variants)
    }
    return {name: _kind(figure) for name, figure in study_figures.items()}


def _kind(figure: StudyFigure) -> FigureKind:
    if figure.indices == (SUCCESS,):
        command = f"collect --study {{study}} --variant {figure.all_variants[0]}"
        return FigureKind(figure.what, partial(_success, figure=figure), command, "plot_success")
    function = "plot_families" if figure.families else "plot_stratification"
    return FigureKind(figure.what, partial(game_rows.compared_rows, figure=figure), _hint(figure), function)


def _hint(figure: StudyFigure) -> str:
    """Say what is lacking, which may be the games themselves and not their indices."""
    models = dict.fromkeys(model for family in figure.families.values() for model in family)
    if not models and len(figure.all_variants) < 2:
        return _INDICES
    option, names = ("model", models) if models else ("variant", figure.all_variants)
    return f"collect --study {{study}} --{option} NAME ({', '.join(names)}), then {_INDICES}"


def _success(data: FigureData, figure: StudyFigure) -> pl.DataFrame | None:
    """Return one row a game: mean and interval are R's."""
    games = data.games("allocation_game_indices")
    if games is None:
        return None
    levels = data.games("allocation_success")
    games = games.filter("is_complete", pl.col("game_variant").is_in(figure.all_variants)).drop_nulls(SUCCESS)
    if levels is not None:
        chance_levels = levels.select(*CELL, "random_level", "best_level")
        games = games.join(chance_levels, on=CELL, how="left", maintain_order="left")
    return game_rows.labelled(games, data, figure)


def _elicited(data: FigureData) -> pl.DataFrame | None:
    rows = data.games("elicited_rates")
    return None if rows is None else game_rows.with_classes(game_rows.labelled(rows, data), data)


def _of_one_variant(data: FigureData, view: str) -> pl.DataFrame | None:
    """Return a part for each variant that is asked for, without pooled rounds, which have no past."""
    rows = data.games(view)
    games = data.games("allocation_games")
    if rows is None or games is None:
        return None
    cells = games.filter(~pl.col("is_pooled")).unique(CELL).select(*CELL, "answer_format", "n_groups")
    variant_rows = rows.join(cells, on=CELL, how="inner", maintain_order="left")
    variant_rows = variant_rows.filter(pl.col("game_variant").is_in(game_rows.variants_to_draw(data)))
    if "is_complete" in variant_rows.columns:
        variant_rows = variant_rows.filter("is_complete")
    return game_rows.labelled(variant_rows, data).with_columns(part=pl.col("variant"))


def _controlled(data: FigureData) -> pl.DataFrame | None:
    return controlled_rows(data.workers) if data.study.design.compares_variants else None


KINDS = {
    STRATIFICATION: FigureKind(_WHAT, lambda data: None, _INDICES),
    "elicited_rates": FigureKind("How likely each job succeeds, as models said themselves, by class.", _elicited),
    "allocations": FigureKind(
        "The rank-ordered allocation matrix of each model: which group was chosen for which class.",
        partial(_of_one_variant, view="allocation_matrices"),
    ),
    "learning_curves": FigureKind(
        "Success, and how often a choice is the last one again, by round.",
        partial(_of_one_variant, view="allocation_learning_curves"),
    ),
    "exploration": FigureKind(
        "How open choices stay after what was seen.", partial(_of_one_variant, view="allocation_exploration")
    ),
    "controlled_indices": FigureKind(
        "What SI, BGD and GASI are in games made up with a known structure (no data needed).", _controlled,
        is_of_data=False,
    ),
}  # fmt: skip
