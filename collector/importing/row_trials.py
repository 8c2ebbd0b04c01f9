"""From the planned trial of a row to the imported one: its id, its options, and what the row says was shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slant.collector.designs import Design
from slant.collector.errors import StudyError
from slant.collector.importing.layouts.values import CellError, composed, count, factors_in, shown, text
from slant.collector.records import Trial
from slant.collector.stable_ids import numbered_ids, stable_id

_OPTIONS = ("option_a", "option_b", "expected")


def with_options(
    design: Design, planned: Trial, draft: Mapping[str, Any], repetition: int, trial_id: str | None = None
) -> Trial:
    """Return the trial itself. Its id does not depend on the file, its order, or the study's version: twice is once."""
    draft_factors = factors_in(draft.get("factors"))
    trial = planned.copy()
    trial.trial_id = trial_id or numbered_ids(*parts_of_id(planned))(repetition)
    trial.repetition = repetition
    trial.position = count(draft.get("position"), "position")
    if not draft.keys().isdisjoint(_OPTIONS):
        ours = (planned.option_a, planned.option_b, planned.expected)
        trial.option_a = _option(draft.get("option_a"), ours) or planned.option_a
        trial.option_b = _option(draft.get("option_b"), ours) or planned.option_b
        trial.expected = _option(draft.get("expected"), ours) or planned.expected
    if draft_factors is not None:
        trial.factors = draft_factors
    try:
        trial = design.as_imported(planned, trial, draft)
    except StudyError as error:
        raise CellError(error.what) from None
    are_options = trial.option_a is not None or trial.expected is not None
    is_expected = trial.expected in (None, trial.option_a, trial.option_b)
    if (are_options and trial.option_a == trial.option_b) or not is_expected:
        options = f"{shown(trial.option_a)} and {shown(trial.option_b)}"
        raise CellError(f"options {options} with {shown(trial.expected)} expected can't be")
    if trial.factors.get("structured_output"):  # only where it is so: the ids of what was imported before stay
        return replace(trial, trial_id=stable_id(*parts_of_id(trial), trial.repetition, "structured_output"))
    return trial


def _option(value: Any, ours: tuple[str | None, ...]) -> str | None:
    """Return an option as the row has it; the study's own text where they differ in how Unicode writes their
    letters.
    """
    option = text(value)
    if option is None or option in ours:
        return option
    return next((our for our in ours if our is not None and composed(our) == composed(option)), option)


def parts_of_id(trial: Trial) -> tuple[Any, ...]:
    cell = (trial.test, trial.item, trial.group, trial.wording, trial.condition)
    return (trial.study, "imported", trial.variant, trial.model, *cell)
