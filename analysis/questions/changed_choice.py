"""Change one choice of an analysis, and show the study's fit next to the changed one."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.studies.catalogue import Fit, Study, fits_of

CHOICES = ("formula", "outcome", "drop_flags", "drop_outcomes", "levels", "settings")
"""List what can be changed in a fit; `settings.NAME` and `levels.COLUMN` change one entry."""


def with_changes(study: Study, changes: Sequence[str]) -> tuple[Study, tuple[str, ...]]:
    """Return the study with each change, "FIT.CHOICE=VALUE", and the names of the fits that change.

    A value is written as in TOML (a list in brackets); a text needs no quotes. Raise UnknownNameError for an unknown
    fit or choice, UsageError for an invalid change.
    """
    fits = dict(fits_of(study))
    names = []
    for change in changes:
        place, equals, value = change.partition("=")
        name, dot, choice = place.strip().partition(".")
        if not equals or not dot:
            raise UsageError(
                f'"{change}" is no change.', 'As in: --change "lme4.formula=tokens ~ condition + (1 | item)"'
            )
        if name not in fits:
            raise UnknownNameError(f"fit of {study.name}", name, fits)
        fits[name] = _changed(fits[name], choice, _value(value.strip()))
        names.append(name)
    return replace(study, fits=fits), tuple(dict.fromkeys(names))


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _changed(fit: Fit, choice: str, value: Any) -> Fit:
    kind, dot, entry = choice.partition(".")
    if kind not in CHOICES or not hasattr(fit, kind):
        raise UnknownNameError("choice", choice, CHOICES)
    before = getattr(fit, kind)
    if dot:
        value = {**before, entry: value}
    if isinstance(before, tuple):
        value = tuple(value) if isinstance(value, list) else (value,) if value else ()
    if isinstance(before, str) and not isinstance(value, str):
        raise UsageError(f'{fit.name}.{choice} is a text, not "{value}".', "As in: --change lme4.formula=...")
    return replace(fit, **{kind: value})
