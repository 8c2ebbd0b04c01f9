"""[sensitivity.*] of a study file: what `analyze sensitivity` fits, each a change of one of [fits.*]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.study.models_and_fits import read_settings
from slant.collector.study.records import Fit, Specification
from slant.collector.study.toml_table import Table, checked_name


def read_specifications(table: Table, fits: Mapping[str, Fit]) -> dict[str, Specification]:
    """All of [sensitivity.*], in their order; StudyError or UnknownNameError where one breaks the rules."""
    return {name: _specification(name, row, fits) for name, row in table.tables("sensitivity").items()}


def _specification(name: str, row: Table, fits: Mapping[str, Fit]) -> Specification:
    fit = row.text("fit")
    if fit not in fits:
        raise UnknownNameError(f'fit for "fit" in {row.where}', fit, list(fits))
    flags = row.texts("drop_flags", fits[fit].drop_flags)
    specification = Specification(
        name=name,
        label=row.text("label", name),
        fit=fit,
        contrast=checked_name(row.text("contrast", fits[fit].contrast), "column"),
        formula=row.optional_text("formula"),
        drop_flags=tuple(checked_name(flag, "column") for flag in flags),
        drop_outcomes=row.texts("drop_outcomes", ()),
        missing_as=_missing_as(row),
        rotate=row.optional_text("rotate"),
        settings=read_settings(row),
        choices=_choices(row),
    )
    row.finish()
    _check_rotation(specification, fits[fit], row.where)
    return specification


def _missing_as(row: Table) -> dict[str, Any]:
    values = row.mapping("missing_as")
    for column, value in values.items():
        checked_name(column, "column")
        if not isinstance(value, bool | int | float | str):
            raise StudyError(f'"missing_as" in {row.where} must give a text, a number, true or false for "{column}".')
    return values


def _choices(row: Table) -> dict[str, str]:
    choices = row.mapping("choices")
    if not all(isinstance(choice, str) for choice in choices.values()):
        raise StudyError(f'"choices" in {row.where} must be texts, as in: choices = {{ outcome = "log tokens" }}')
    return choices


def _check_rotation(specification: Specification, fit: Fit, where: str) -> None:
    """Each level of `rotate` in turn is made the reference, which only a regression has."""
    if specification.rotate is None:
        return
    checked_name(specification.rotate, "column")
    if (specification.formula or fit.formula) is None:
        raise StudyError(f'"rotate" in {where} needs a fit with a formula, and "{fit.name}" has none.')
    if specification.rotate == specification.contrast:
        raise StudyError(f'"rotate" in {where} can\'t name the contrast "{specification.contrast}" itself.')
