"""Which two options an imported row was asked with, and which of them was expected."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slant.collector.designs import Design
from slant.collector.errors import StudyError
from slant.collector.importing.layouts.values import CellError, is_empty, shown, text
from slant.collector.records import Trial, stable_id


def with_options(design: Design, planned: Trial, draft: Mapping[str, Any], repetition: int) -> Trial:
    """The trial itself. Its id does not depend on the file, its order, or the study's version: twice is once."""
    draft_factors = _factors(draft)
    known = planned.factors if repetition == planned.repetition else {}
    trial = replace(
        planned,
        repetition=repetition,
        option_a=text(draft.get("option_a")) or planned.option_a,
        option_b=text(draft.get("option_b")) or planned.option_b,
        expected=text(draft.get("expected")) or planned.expected,
        factors=known if draft_factors is None else draft_factors,
    )
    try:
        trial = design.as_imported(planned, trial, draft)
    except StudyError as error:
        raise CellError(error.what) from None
    are_options = trial.option_a is not None or trial.expected is not None
    is_expected = trial.expected in (None, trial.option_a, trial.option_b)
    if (are_options and trial.option_a == trial.option_b) or not is_expected:
        options = f"{shown(trial.option_a)} and {shown(trial.option_b)}"
        raise CellError(f"options {options} with {shown(trial.expected)} expected can't be")
    return replace(trial, trial_id=_trial_id(trial))


def _trial_id(trial: Trial) -> str:
    parts = [
        trial.study,
        "imported",
        trial.variant,
        trial.model,
        trial.test,
        trial.item,
        trial.group,
        trial.wording,
        trial.condition,
        trial.repetition,
    ]
    # only where it is so: the ids of what was imported before there was such a thing stay
    return stable_id(*parts, *(["structured_output"] if trial.factors.get("structured_output") else []))


def _factors(draft: Mapping[str, Any]) -> dict[str, Any] | None:
    cell = draft.get("factors")
    if is_empty(cell):
        return None
    try:
        factors = json.loads(cell) if isinstance(cell, str) else cell
    except ValueError:
        factors = None
    if not isinstance(factors, dict):
        raise CellError(f"factors must be a JSON object, but is {shown(cell)}")
    return factors
