"""The parts of a study file that all designs share: models and fits."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, get_args

from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.records import Measure, TokenSource
from slant.collector.study.engines import needs_contrast
from slant.collector.study.records import Fit, ReasoningBack, StudyModel
from slant.collector.study.toml_table import Table, checked_name


def read_model(row: Table) -> StudyModel:
    """One of [[models]]; StudyError where it breaks the rules."""
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
"""Parts of a request that settings would replace: whom it goes to, what is asked, how often, and how it is answered."""


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
"""What a fit may be made by. The results have these columns and no other to tell cells apart, and each source, study
version and variant is fitted by itself anyway."""


def _levels(row: Table) -> dict[str, tuple[str | int, ...]]:
    levels = row.mapping("levels")
    for column, values in levels.items():
        if not isinstance(values, list) or len(set(map(str, values))) < 2 or len(set(map(str, values))) < len(values):
            raise StudyError(f'The levels of "{column}" in {row.where} must be a list of two or more different ones.')
        if not all(isinstance(value, str | int) for value in values):
            raise StudyError(f'The levels of "{column}" in {row.where} must be texts or whole numbers.')
    return {column: tuple(values) for column, values in levels.items()}


def read_fit(name: str, row: Table, own_words: Iterable[str] = ()) -> Fit:
    """One of [fits.*]; the formula itself is checked by R, against a list of what it may call."""
    levels = _levels(row)
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
    )
    row.finish()
    lacks_contrast = fit.contrast is None and needs_contrast(fit.engine)
    if fit.formula is None and (fit.outcome is None or lacks_contrast):
        raise StudyError(f'{row.where} needs the key "formula", or "outcome" and "contrast".')
    for column in (*fit.levels, *fit.factors, *fit.drop_flags):
        checked_name(column, "column")
    _check_cells(fit, row.where)
    _check_contrast(fit, row.where)
    return fit


def _fit_settings(row: Table, own_words: Iterable[str]) -> dict[str, Any]:
    """Where texts are searched for topics, `removed_words` becomes all that is taken out of them before: the study's
    own words, labels and prompts and those named here, sorted, without `kept_words`; then `removed_last`."""
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


def _check_contrast(fit: Fit, where: str) -> None:
    if fit.contrast is not None and len(fit.levels.get(fit.contrast, ())) != 2:
        raise StudyError(
            f'{where} needs the two levels of its contrast "{fit.contrast}", the reference level first.',
            f'As in: levels = {{ {fit.contrast} = ["compatible", "incompatible"] }}',
        )


def _one_of(row: Table, key: str, known: tuple[str, ...]) -> Any:
    value = row.optional_text(key)
    if value is not None and value not in known:
        raise UnknownNameError(f'value for "{key}" in {row.where}', value, known)
    return value
