"""What an imported row of a forced choice says of its options: A and B mean nothing where nobody says what they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slant.collector.designs.forced_choice.words import LETTERS
from slant.collector.errors import StudyError
from slant.collector.records import Trial

_PLACES = ("block_position", "position_in_block")


def as_imported(planned: Trial, trial: Trial, draft: Mapping[str, Any]) -> Trial:
    """The trial with the sides that the row tells: by the texts of its options, or by the letter of the consistent one.
    StudyError where it tells neither, or both and not the same. `planned` has the study's texts on some side."""
    letter = _said_letter(trial, draft)
    if _said(draft.get("option_a")) or _said(draft.get("option_b")):
        by_text = LETTERS[trial.expected != trial.option_a]
        if letter is not None and letter != by_text:
            raise StudyError(f"consistent_letter is {letter}, but by its options it is {by_text}")
        return replace(trial, factors=_factors(planned, trial, draft, by_text))
    if letter is None:
        raise StudyError("which option was A is not said (columns option_a and option_b, or consistent_letter)")
    consistent, other = _texts(planned)
    texts = (consistent, other) if letter == LETTERS[0] else (other, consistent)
    return replace(trial, option_a=texts[0], option_b=texts[1], factors=_factors(planned, trial, draft, letter))


def _said_letter(trial: Trial, draft: Mapping[str, Any]) -> str | None:
    letter = _said(draft.get("consistent_letter"))
    if not letter and _said(draft.get("factors")):
        letter = _said(trial.factors.get("consistent_letter"))
    if letter and letter.upper() not in LETTERS:
        raise StudyError(f'consistent_letter must be A or B, but is "{letter[:20]}"')
    return letter.upper() or None


def _texts(planned: Trial) -> tuple[str | None, str | None]:
    is_a = planned.expected == planned.option_a
    return planned.expected, planned.option_b if is_a else planned.option_a


def _factors(planned: Trial, trial: Trial, draft: Mapping[str, Any], letter: str) -> dict[str, Any]:
    """The places in the order of asking are the row's own: those of the plan would be made up."""
    trial_factors = trial.factors if _said(draft.get("factors")) else {}
    places = {name: _place(draft.get(name, trial_factors.get(name)), name) for name in _PLACES}
    is_enforced = _said(draft.get("structured_output", trial_factors.get("structured_output"))).lower() in ("true", "1")
    tier = _said(draft.get("tier", trial_factors.get("tier"))) or planned.factors.get("tier")
    return {"consistent_letter": letter, **places, "tier": tier, "structured_output": is_enforced}


def _place(value: Any, name: str) -> int | None:
    text = _said(value).removesuffix(".0")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise StudyError(f'{name} must be a whole number, but is "{text[:20]}"')
    return int(text)


def _said(value: Any) -> str:
    """A cell as text; empty where it says nothing (null, NA, a number that is none)."""
    text = "" if value is None or value != value else str(value).strip()
    return "" if text == "NA" else text
