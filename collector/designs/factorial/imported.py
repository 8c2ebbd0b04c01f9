"""What an imported row says was shown: a column for each factor, or the factors of an export, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from slant.collector.designs.factorial.factors import Factor
from slant.collector.designs.factorial.parts import FactorialData
from slant.collector.designs.people import RowPlacer
from slant.collector.errors import StudyError
from slant.collector.reading.spelling import folded
from slant.collector.reading.written_numbers import MARKS

_TEXTS = ("names", "levels", "sent_levels", "order", "questions", "kinds", "directions")
_NUMBERS = ("lows", "highs", "abouts")
DECIMAL = "decimal"
"""The mark before decimals in the answers of an imported file, where the file or a person says it."""
_BAD = re.compile(r'[\x00-\x1f"\\]')


_DECIMALS = re.compile(r"\.0+$")


def numbers_of(factor: Factor) -> dict[str, int]:
    """Return the number of each level by its name, however it is spelled."""
    return {folded(level.name): number for number, level in enumerate(factor.levels)}


def number_in(known: Mapping[str, int], said: str) -> int | None:
    """Return the number of a cell's level; numbers may have decimals, as pandas writes them."""
    place = known.get(folded(said))
    return known.get(folded(_DECIMALS.sub("", said))) if place is None else place


def row_columns(data: FactorialData) -> tuple[str, ...]:
    """Return the factors, if all cells are asked; a single one that is the item needs no other name."""
    names = tuple(factor.name for factor in data.factors)
    return names if data.takes == "all" and names != ("item",) else ()


def placer_of(data: FactorialData) -> RowPlacer | None:
    """Return what names the item of a row by its levels, if all cells are asked; else None."""
    if not row_columns(data):
        return None
    known = [(factor, numbers_of(factor)) for factor in data.factors]

    def place(cells: Mapping[str, Any]) -> Mapping[str, str]:
        if not all(factor.name in cells for factor, _ in known):
            return {}
        if all(not str("" if cells[factor.name] is None else cells[factor.name]).strip() for factor, _ in known):
            return {}  # of jsPsych: instructions, a fixation, a pause
        levels = []
        for factor, numbers in known:
            said = "" if cells[factor.name] is None else str(cells[factor.name]).strip()
            if (number := number_in(numbers, said)) is None:
                raise StudyError(f'has "{said[:40]}" as {factor.name}, which is no level of the study')
            levels.append(factor.levels[number].name)
        template = str(cells.get("template") or "").strip()
        return {"item": ", ".join(levels), **({"condition": template} if template else {})}

    return place


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
    if factors.get(DECIMAL) in MARKS:
        kept[DECIMAL] = factors[DECIMAL]
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
