"""Read the tables of a study file that all designs share: [[models]], [fits.*], [sensitivity.*] (what `analyze
sensitivity` fits, each a change of one of the fits), [figures.*] (which variants a figure shows side by side)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from slant.collector.errors import StudyError, check_known
from slant.collector.records import WITHOUT_ANSWER, Measure, TokenSource
from slant.collector.study.crossed_fits import check_engine, engine_columns, needs_contrast
from slant.collector.study.records import Fit, ImportNames, ReasoningBack, Specification, StudyFigure, StudyModel
from slant.collector.study.toml_table import Table, checked_name, shortened

NUMBER = "number"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_COLUMN = re.compile(r"[a-z][a-z0-9_]{0,39}")


def read_model(row: Table) -> StudyModel:
    """Return an entry of [[models]]; StudyError if it breaks the rules."""
    model = checked_name(row.text("model"), "model")
    study_model = StudyModel(
        model=model,
        label=row.text("label", model),
        provider=checked_name(row.text("provider"), "provider"),
        requested_model=row.text("requested_model", model),
        frame=row.text("frame", ""),
        measure=_one_of(row, "measure", get_args(Measure)),
        settings=_model_settings(row),
        token_source=_one_of(row, "token_source", get_args(TokenSource)),
        asked_by_default=row.flag("asked_by_default", default=True),
        reasoning_back=_one_of(row, "reasoning_back", get_args(ReasoningBack)) or "default",
    )
    row.finish()
    return study_model


def read_settings(row: Table) -> dict[str, Any]:
    settings = dict(row.mapping("settings"))  # a study with variants is read once for each
    try:
        json.dumps(settings, allow_nan=False)
    except (TypeError, ValueError):
        raise StudyError(f'"settings" in {row.where} must be what JSON can say: no dates, no infinity.') from None
    return settings


_NOT_SET = (
    "model", "messages", "input", "contents", "prompt", "system", "systemInstruction", "instructions", "stream", "n",
    "tools", "functions",
)  # fmt: skip
"""List parts of a request that settings would replace: its model, what is asked, how often, and how it is answered."""


def _model_settings(row: Table) -> dict[str, Any]:
    settings = read_settings(row)
    for name in _NOT_SET:
        if name in settings:
            raise StudyError(
                f'"settings" in {row.where} can\'t hold "{name}": slant writes that part of a request itself.',
                "What is asked, and which model, must be what --dry-run shows.",
            )
    return settings


_CELLS = ("model", "test")
"""List the columns by which a fit may be made. The results have only these columns to distinguish cells, and each
source, study version and variant is fitted separately anyway."""


def _levels(row: Table) -> dict[str, tuple[str | int, ...]]:
    levels = row.mapping("levels")
    for column, values in levels.items():
        if not isinstance(values, list) or len(set(map(str, values))) < 2 or len(set(map(str, values))) < len(values):
            raise StudyError(f'The levels of "{column}" in {row.where} must be a list of two or more different ones.')
        if not all(isinstance(value, str | int) for value in values):
            raise StudyError(f'The levels of "{column}" in {row.where} must be texts or whole numbers.')
    return {column: tuple(values) for column, values in levels.items()}


def read_fit(
    name: str, row: Table, own_words: Iterable[str] = (), attributes: Mapping[str, tuple[str, ...]] | None = None
) -> Fit:
    """Return an entry of [fits.*]; R checks the formula itself, against a list of what it may call. `attributes`: the
    factors that the study itself names, whose levels a fit need not list again."""
    levels = _own_levels(row, attributes or {}) | _levels(row)
    fit = Fit(
        name=name,
        engine=checked_name(row.text("engine", name), "engine"),
        view=checked_name(row.text("view"), "view"),
        formula=row.optional_text("formula"),
        outcome=row.optional_text("outcome"),
        contrast=row.optional_text("contrast"),
        by=row.texts("by", ()),
        levels=levels,
        factors=row.texts("factors", tuple(levels)),
        drop_flags=row.texts("drop_flags", ()),
        settings=_fit_settings(row, own_words),
        drop_outcomes=read_outcomes(row, WITHOUT_ANSWER),
        where=_where(row),
    )
    if not row.has("drop_outcomes") and _is_of_outcomes(fit):
        fit = replace(fit, drop_outcomes=())
    row.finish()
    lacks_contrast = fit.contrast is None and needs_contrast(fit.engine)
    if fit.formula is None and not engine_columns(fit.engine) and (fit.outcome is None or lacks_contrast):
        raise StudyError(f'{row.where} needs the key "formula", or "outcome" and "contrast".')
    check_engine(fit, row.where)
    for column in (*fit.levels, *fit.factors, *fit.drop_flags, *fit.where):
        checked_name(column, "column")
    _check_cells(fit, row.where)
    if fit.contrast is not None and len(fit.levels.get(fit.contrast, ())) != 2:
        raise StudyError(
            f'{row.where} needs the two levels of its contrast "{fit.contrast}", the reference level first.',
            f'As in: levels = {{ {fit.contrast} = ["compatible", "incompatible"] }}',
        )
    return fit


def read_settings_of_fits(rows: Mapping[str, Table]) -> dict[str, dict[str, Any]]:
    """Return the settings by name that a file changes of fits which every study of its design has: [fits.*.settings]
    and nothing else."""
    return {name: read_settings(row) for name, row in rows.items() if row.names == {"settings"}}


def _own_levels(row: Table, attributes: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str | int, ...]]:
    """Return the study's levels of its own factors that a formula (outside its random effects), a contrast or the
    setting `attributes` names; numbers stay numbers, unless the fit itself lists them.
    """
    formula = re.sub(r"\|[^()]*\)", ")", row.optional_text("formula") or "")
    compared = row.mapping("settings").get("attributes", ())
    compared = {compared} if isinstance(compared, str) else {one for one in compared if isinstance(one, str)}
    named = {*re.findall(r"\w+", formula), row.optional_text("contrast"), *compared}
    return {
        name: levels
        for name, levels in attributes.items()
        if name in named and len(levels) > 1 and (name in compared or not all(map(_NUMBER.fullmatch, levels)))
    }


def _where(row: Table) -> dict[str, tuple[str, ...]]:
    """Return the rows to take: `where = { question = "rating" }`, or a list of values."""
    taken = {}
    for column, value in row.mapping("where").items():
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(one, str | int) for one in values):
            raise StudyError(f'"where" in {row.where} must give a text, or a list of texts, for "{column}".')
        taken[column] = tuple(str(one).lower() if isinstance(one, bool) else str(one) for one in values)
    return taken


def _fit_settings(row: Table, own_words: Iterable[str]) -> dict[str, Any]:
    """Return the settings of a fit. If texts are searched for topics, `removed_words` becomes all that is removed from
    them first: the study's own words, labels and prompts and those named here, sorted, without `kept_words`; then
    `removed_last`."""
    settings = read_settings(row)
    named = {key: settings.pop(key, []) for key in ("removed_words", "kept_words", "removed_last")}
    for key, words in named.items():
        if not isinstance(words, list) or not all(isinstance(word, str) and word.strip() for word in words):
            raise StudyError(f"{row.where}: {key} must be a list of words.")
    if "text" in settings:
        every = {*own_words, *named["removed_words"]} - {*named["kept_words"]}
        settings["removed_words"] = [*sorted(every), *named["removed_last"]]
    return settings


def _check_cells(fit: Fit, where: str) -> None:
    wrong = [column for column in fit.by if column not in _CELLS]
    if wrong:
        raise StudyError(
            f'A fit can\'t be made by "{wrong[0]}", as {where} says.',
            f"by may hold: {', '.join(_CELLS)}. Each source, study version and variant is fitted by itself.",
        )
    if len(set(fit.by)) < len(fit.by):
        raise StudyError(f"by in {where} names a column twice.")


def _one_of(row: Table, key: str, known: tuple[str, ...]) -> Any:
    value = row.optional_text(key)
    if value is not None:
        check_known(f'value for "{key}" in {row.where}', value, known)
    return value


def read_smallest_effect(table: Table) -> dict[str, float]:
    """Return the smallest effect that would matter, by measure; under "" a single number, of any measure."""
    value = (
        table.optional("smallest_effect", (int, float, dict), "a number above 0, or a table of them by measure") or {}
    )
    effects = value if isinstance(value, dict) else {"": value}
    for name, effect in effects.items():
        if not isinstance(effect, int | float) or isinstance(effect, bool) or not 0 < effect < math.inf:
            raise StudyError(
                f'"smallest_effect" in {table.where} must be above 0, but of {name or "all"} it is {effect!r}.',
                "As in: smallest_effect = { rating = 0.5, rate = 0.1 }",
            )
    return {name: float(effect) for name, effect in effects.items()}


def read_figures(table: Table, variants: Sequence[str], models: Sequence[str]) -> dict[str, StudyFigure]:
    """Return the figures of [figures.*], in their order; StudyError or UnknownNameError if one breaks the rules."""
    return {name: _figure(name, row, variants, models) for name, row in table.tables("figures").items()}


def read_variant_labels(table: Table, variants: Sequence[str]) -> dict[str, str]:
    """Return variants' names in figures by id; a variant without one goes by its id."""
    labels = table.table("variant_labels")
    for variant in table.mapping("variant_labels"):
        check_known(f"variant (in {labels.where})", variant, variants)
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
        check_known(f"variant (in {row.where})", variant, variants)
    for model in (model for family in figure.families.values() for model in family):
        check_known(f"model (of families in {row.where})", model, models)
    return figure


def _lists(row: Table, key: str) -> Mapping[str, tuple[str, ...]]:
    lists = row.table(key)
    return {name: lists.texts(name) for name in row.mapping(key)}


_OF_OUTCOMES = ("outcome", "is_refusal", "is_valid")
"""List columns that an outcome decides: a fit of one of them needs the trials without an answer."""


def _is_of_outcomes(fit: Fit) -> bool:
    named = (*re.findall(r"\w+", fit.formula or ""), fit.outcome, fit.contrast)
    return any(column in named for column in _OF_OUTCOMES)


def read_outcomes(row: Table, default: tuple[str, ...]) -> tuple[str, ...]:
    """Return the outcomes whose rows are left out; UnknownNameError for one that a trial can't end with."""
    outcomes = row.texts("drop_outcomes", default)
    for outcome in outcomes:
        check_known(f'outcome for "drop_outcomes" in {row.where}', outcome, ("answered", *WITHOUT_ANSWER))
    return outcomes


def read_specifications(table: Table, fits: Mapping[str, Fit]) -> dict[str, Specification]:
    """Return the specifications of [sensitivity.*] in order; StudyError or UnknownNameError if one breaks the rules."""
    return {name: _specification(name, row, fits) for name, row in table.tables("sensitivity").items()}


def _specification(name: str, row: Table, fits: Mapping[str, Fit]) -> Specification:
    fit = row.text("fit")
    check_known(f'fit for "fit" in {row.where}', fit, fits)
    # a specification that says what to leave out says all of it
    inherited = () if row.has("drop_flags") or row.has("missing_as") else fits[fit].drop_outcomes
    flags = row.texts("drop_flags", fits[fit].drop_flags)
    choices = row.mapping("choices")
    if not all(isinstance(choice, str) for choice in choices.values()):
        raise StudyError(f'"choices" in {row.where} must be texts, as in: choices = {{ outcome = "log tokens" }}')
    values = row.mapping("missing_as")
    for column, value in values.items():
        checked_name(column, "column")
        if not isinstance(value, bool | int | float | str):
            raise StudyError(f'"missing_as" in {row.where} must give a text, a number, true or false for "{column}".')
    specification = Specification(
        name=name,
        label=row.text("label", name),
        fit=fit,
        contrast=checked_name(row.text("contrast", fits[fit].contrast), "column"),
        formula=row.optional_text("formula"),
        drop_flags=tuple(checked_name(flag, "column") for flag in flags),
        drop_outcomes=read_outcomes(row, inherited),
        missing_as=values,
        rotate=row.optional_text("rotate"),
        settings=read_settings(row),
        choices=choices,
    )
    row.finish()
    _check_rotation(specification, fits[fit], row.where)
    return specification


def _check_rotation(specification: Specification, fit: Fit, where: str) -> None:
    """Check that each level of `rotate` can be made the reference in turn, which only a regression has."""
    if specification.rotate is None:
        return
    checked_name(specification.rotate, "column")
    if (specification.formula or fit.formula) is None:
        raise StudyError(f'"rotate" in {where} needs a fit with a formula, and "{fit.name}" has none.')
    if specification.rotate == specification.contrast:
        raise StudyError(f'"rotate" in {where} can\'t name the contrast "{specification.contrast}" itself.')


def read_person_columns(table: Table) -> dict[str, tuple[str, ...]]:
    """Read [people]: columns of people that come in, each with its levels, the reference first; none of a number."""
    row = table.table("people")
    columns: dict[str, tuple[str, ...]] = {}
    for name in table.mapping("people"):
        if not _COLUMN.fullmatch(name):
            raise StudyError(
                f'A column of people in {row.where} can\'t be called "{shortened(name)}".',
                "A name has small letters, digits and underscores, and starts with a letter; 40 characters at most.",
            )
        columns[name] = read_levels(row, name)
    row.finish()
    return columns


def read_levels(row: Table, name: str) -> tuple[str, ...]:
    """Return the levels of a column of text; none of one that is a "number"."""
    said = row.optional(name, (str, list), 'a list of texts, or "number"')
    if isinstance(said, str):
        if said != NUMBER:
            raise StudyError(f'"{name}" in {row.where} must be a list of its levels, or "{NUMBER}".')
        return ()
    levels = row.texts(name)
    if len(levels) < 2 or len(set(levels)) < len(levels):
        raise StudyError(f'"{name}" in {row.where} must have different levels, at least two.')
    return levels


def read_import_names(table: Table) -> ImportNames:
    """Read [import]: what `collect import` uses if nothing else is typed."""
    row = table.table("import")
    names = ImportNames(row.texts("map", ()), row.texts("map_models", ()))
    row.finish()
    return names
