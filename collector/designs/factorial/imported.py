"""What an imported row says was shown, checked: the reading of its answer is made again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from slant.collector.errors import StudyError

_TEXTS = ("names", "levels", "order", "questions", "kinds", "directions")
_NUMBERS = ("lows", "highs", "abouts")
_BAD = re.compile(r'[\x00-\x1f"\\]')


def checked_shown(factors: Mapping[str, Any], planned: Mapping[str, Any]) -> dict[str, Any]:
    """Return the factors of a row, in the order in which the plan has them; StudyError, whose text goes on after
    "this row …", where they are not what a trial keeps.
    """
    kept: dict[str, Any] = {}
    for name, usual in planned.items():
        value = factors.get(name, usual)
        if name in _TEXTS and not _is_list(value, str):
            raise StudyError(f"{name} of its factors must be a list of plain texts")
        if name == "shares" and not _is_list(value, int | float | None):
            raise StudyError(f"{name} of its factors must be a list of numbers")
        if name in _NUMBERS and not _is_list(value, int | float):
            raise StudyError(f"{name} of its factors must be a list of numbers")
        if not isinstance(value, type(usual)):
            raise StudyError(f"{name} of its factors must be of the kind that the plan has")
        kept[name] = value
    if kept["questions"] != planned["questions"]:
        raise StudyError("the questions of its factors are other ones than the study asks there")
    n = len(kept["names"])
    if not n or len(kept["levels"]) != n * kept["n_profiles"] or len(kept["shares"]) != len(kept["levels"]):
        raise StudyError("its factors must have a level and a share for each name, profile by profile")
    return kept


def _is_list(value: object, kind: Any) -> bool:
    if not isinstance(value, list) or not all(isinstance(part, kind) and not isinstance(part, bool) for part in value):
        return False
    return not any(isinstance(part, str) and _BAD.search(part) for part in value)
