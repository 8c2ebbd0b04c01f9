"""[figures.*] of a study file: which variants a figure puts side by side, where variants are conditions to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.study.records import StudyFigure
from slant.collector.study.toml_table import Table


def read_figures(table: Table, variants: Sequence[str], models: Sequence[str]) -> dict[str, StudyFigure]:
    """All of [figures.*], in their order; StudyError or UnknownNameError where one breaks the rules."""
    return {name: _figure(name, row, variants, models) for name, row in table.tables("figures").items()}


def read_variant_labels(table: Table, variants: Sequence[str]) -> dict[str, str]:
    """The names that variants have in figures, by their ids; a variant without one goes by its id."""
    labels = table.table("variant_labels")
    for variant in table.mapping("variant_labels"):
        if variant not in variants:
            raise UnknownNameError(f"variant (in {labels.where})", variant, variants)
    return {variant: labels.text(variant) for variant in table.mapping("variant_labels")}


def _figure(name: str, row: Table, variants: Sequence[str], models: Sequence[str]) -> StudyFigure:
    figure = StudyFigure(
        name=name,
        what=row.text("what"),
        title=row.optional_text("title"),
        indices=row.texts("indices", ("si", "bgd")),
        variants=row.texts("variants", () if row.mapping("panels") else (variants[0],)),
        panels=_lists(row, "panels"),
        families=_lists(row, "families"),
    )
    row.finish()
    if figure.panels and figure.variants:
        raise StudyError(f'{row.where} has both "panels" and "variants": panels name the variants in each.')
    for variant in figure.all_variants:
        if variant not in variants:
            raise UnknownNameError(f"variant (in {row.where})", variant, variants)
    for model in (model for family in figure.families.values() for model in family):
        if model not in models:
            raise UnknownNameError(f"model (of families in {row.where})", model, models)
    return figure


def _lists(row: Table, key: str) -> Mapping[str, tuple[str, ...]]:
    lists = row.table(key)
    return {name: lists.texts(name) for name in row.mapping(key)}
