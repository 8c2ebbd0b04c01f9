"""Figures of games in which groups are chosen for classes of jobs: of all variants side by side, as the study says, or
of one variant. Indices are those that `analyze indices` kept, never new ones.
"""

from __future__ import annotations

from functools import partial

import polars as pl

from slant.analysis.paper.published import read_human_levels
from slant.analysis.plots.figure_data import FigureData, FigureKind, Rows, figure_table
from slant.analysis.questions.games.indices import CELL, controlled_rows
from slant.collector.designs.allocation.parts import AllocationData
from slant.collector.errors import UnknownNameError
from slant.collector.studies.catalogue import Study
from slant.collector.study.records import StudyFigure

STRATIFICATION = "stratification"
SUCCESS = "success_rate"
_INDICES = figure_table()[STRATIFICATION]["hint"]
_WHAT = figure_table()[STRATIFICATION]["description"]


def study_figure_kinds(study: Study) -> dict[str, FigureKind]:
    """Return the figures that the study itself names; of one that names none, its variants side by side."""
    if not study.design.analyses.compares_variants:
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
    return FigureKind(figure.what, partial(compared_rows, figure=figure), _hint(figure), function)


def _hint(figure: StudyFigure) -> str:
    """Say what is lacking, which may be the games themselves and not their indices."""
    models = dict.fromkeys(model for family in figure.families.values() for model in family)
    if not models and len(figure.all_variants) < 2:
        return _INDICES
    option, names = ("model", models) if models else ("variant", figure.all_variants)
    return f"collect --study {{study}} --{option} NAME ({', '.join(names)}), then {_INDICES}"


def _success(data: FigureData, figure: StudyFigure) -> pl.DataFrame | None:
    """Return a row per game: mean and interval are R's."""
    games = data.games("allocation_game_indices")
    if games is None:
        return None
    levels = data.games("allocation_success")
    games = games.filter("is_complete", pl.col("game_variant").is_in(figure.all_variants)).drop_nulls(SUCCESS)
    if levels is not None:
        chance_levels = levels.select(*CELL, "random_level", "best_level")
        games = games.join(chance_levels, on=CELL, how="left", maintain_order="left")
    return labelled(games, data, figure)


def _elicited(data: FigureData) -> pl.DataFrame | None:
    rows = data.games("elicited_rates")
    return None if rows is None else with_classes(labelled(rows, data), data)


def _of_one_variant(data: FigureData, view: str) -> pl.DataFrame | None:
    """Return a part for each variant that is asked for, without pooled rounds, which have no past."""
    rows = data.games(view)
    games = data.games("allocation_games")
    if rows is None or games is None:
        return None
    cells = games.filter(~pl.col("is_pooled")).unique(CELL).select(*CELL, "answer_format", "n_groups")
    variant_rows = rows.join(cells, on=CELL, how="inner", maintain_order="left")
    variant_rows = variant_rows.filter(pl.col("game_variant").is_in(variants_to_draw(data)))
    if "is_complete" in variant_rows.columns:
        variant_rows = variant_rows.filter("is_complete")
    return labelled(variant_rows, data).with_columns(part=pl.col("variant"))


def _controlled(data: FigureData) -> pl.DataFrame | None:
    return controlled_rows(data.workers) if data.study.design.analyses.compares_variants else None


ROWS: dict[str, Rows] = {
    STRATIFICATION: lambda data: None,
    "elicited_rates": _elicited,
    "allocations": partial(_of_one_variant, view="allocation_matrices"),
    "learning_curves": partial(_of_one_variant, view="allocation_learning_curves"),
    "exploration": partial(_of_one_variant, view="allocation_exploration"),
    "controlled_indices": _controlled,
}


_KEPT = "game_index_intervals"


def compared_rows(data: FigureData, figure: StudyFigure) -> pl.DataFrame | None:
    """Return the kept indices that a figure puts side by side, with what people and chance have; None if none is
    kept.
    """
    intervals = data.games(_KEPT)
    if intervals is None:
        return None
    rows = intervals.filter(pl.col("index").is_in(figure.indices), pl.col("game_variant").is_in(figure.all_variants))
    if figure.title and figure.is_comparison:  # its title asks what one condition alone can't answer
        rows = rows.filter(pl.col("game_variant").n_unique().over("source", "study_version") > 1)
    if rows.is_empty():
        return None
    levels = read_human_levels(data.study)
    rows = rows.drop("made_at", "versions", "data_hash").join(
        levels, on=["game_variant", "index"], how="left", maintain_order="left"
    )
    note = _note(data, rows, figure)
    return _in_panels(labelled(rows, data, figure), figure).with_columns(note=pl.lit(note, pl.String))


def labelled(rows: pl.DataFrame, data: FigureData, figure: StudyFigure | None = None) -> pl.DataFrame:
    """Return the rows with model_label, model_no, variant_label, variant_no and title; `variant` is without the format
    of answers."""
    order = figure.all_variants if figure else data.study.variants
    numbers = {variant: place for place, variant in enumerate(order, start=1)}
    labels = {**{variant: variant.replace("_", " ") for variant in order}, **data.study.variant_labels}
    named = (
        rows
        if "model_label" in rows.columns
        else rows.join(data.model_labels, on=["study_version", "model"], how="left", maintain_order="left")
    )
    variant = pl.col("game_variant")
    return (
        named.with_columns(
            variant=variant,
            model_label=pl.coalesce("model_label", "model"),
            variant_label=variant.replace_strict(labels, default=variant, return_dtype=pl.String),
            variant_no=variant.replace_strict(numbers, default=None, return_dtype=pl.Int64),
            title=pl.lit(figure.title if figure else None, pl.String),
        )
        .drop("game_variant")
        .sort("source", "study_version", "variant_no", "model_no", "model", nulls_last=True, maintain_order=True)
    )


def with_classes(rows: pl.DataFrame, data: FigureData) -> pl.DataFrame:
    """Return the rows with class_label and class_no, as the study has them today."""
    allocation: AllocationData = data.study.data
    classes = {job_class.name: (job_class.label, place) for place, job_class in enumerate(allocation.classes, start=1)}
    return rows.with_columns(
        class_label=pl.col("class").replace({name: label for name, (label, _) in classes.items()}),
        class_no=pl.col("class").replace_strict(
            {name: place for name, (_, place) in classes.items()}, default=None, return_dtype=pl.Int64
        ),
    )


def variants_to_draw(data: FigureData) -> list[str]:
    """Return the requested variants; otherwise the unchanged study or, if the data lack it, their first variant."""
    games = data.games("allocation_games")
    played_variants = [] if games is None else games["game_variant"].unique().to_list()
    study_variants = [variant for variant in data.study.variants if variant in played_variants]
    ordered = [*study_variants, *sorted(set(played_variants) - set(study_variants))]
    for variant in data.variants:
        if variant not in played_variants:
            raise UnknownNameError("variant of games in this database", variant, ordered)
    return list(data.variants) or ordered[:1]


def _in_panels(rows: pl.DataFrame, figure: StudyFigure) -> pl.DataFrame:
    """Return rows once for each panel that has the variant; or with the family of the model, and its place there."""
    if figure.families:
        members = [
            {"model": model, "family": family, "family_no": number, "order": place}
            for number, (family, models) in enumerate(figure.families.items(), start=1)
            for place, model in enumerate(models, start=1)
        ]
        return rows.join(pl.DataFrame(members), on="model", how="inner", maintain_order="left")
    if not figure.panels:
        return rows
    panels = [{"variant": variant, "panel": panel} for panel, variants in figure.panels.items() for variant in variants]
    return rows.join(pl.DataFrame(panels), on="variant", how="inner", maintain_order="left")


def _note(data: FigureData, rows: pl.DataFrame, figure: StudyFigure) -> str | None:
    """Return a note on missing or outdated parts of the figure, with the command that computes them."""
    games = data.games("allocation_games")
    if games is None:
        return None
    cells = games.filter("is_complete", pl.col("game_variant").is_in(figure.all_variants)).select(CELL).unique()
    if figure.families:
        cells = cells.filter(pl.col("model").is_in([model for models in figure.families.values() for model in models]))
    n_missing = cells.join(rows.select(CELL).unique(), on=CELL, how="anti").height
    n_stale = rows.filter(~pl.col("is_current")).unique(CELL).height
    command = f"type `analyze indices --study {data.study.as_typed}`."
    problems = [
        f"{n_missing} of {cells.height} cells are not drawn, because their indices are not stored yet"
        if n_missing
        else "",
        f"{n_stale} cells have new games since their indices were stored" if n_stale else "",
    ]
    return "; ".join(problem for problem in problems if problem) + f": {command}" if any(problems) else None
