"""Rows of games as figures want them: with the names of variants, classes and models, in the order of the study."""

from __future__ import annotations

import polars as pl

from slant.analysis.paper.published import read_human_levels
from slant.analysis.plots.figure_data import FigureData
from slant.analysis.questions.games.cells import CELL
from slant.collector.designs.allocation.parts import AllocationData
from slant.collector.errors import UnknownNameError
from slant.collector.study.records import StudyFigure

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
    """Return those that are asked for; else the study as its file has it, or if the data lack it, the first that they
    have."""
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
    """Return what is not drawn, or no longer right, and what to type."""
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
        f"{n_missing} of {cells.height} cells are not drawn, for their indices are not kept yet" if n_missing else "",
        f"{n_stale} cells have got games since their indices were kept" if n_stale else "",
    ]
    return "; ".join(problem for problem in problems if problem) + f": {command}" if any(problems) else None
