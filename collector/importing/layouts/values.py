"""Reads single cells of a file: counts, numbers, conditions, texts. Each says in one sentence why it can't."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from math import inf, isfinite
from typing import Any

from slant.collector.system.json_text import json_or

_MOST_TOKENS = 10**9
_DIGITS = len(str(_MOST_TOKENS))
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?")
_CONDITION = re.compile(r"(?:(?:stereotyp\w*|association\w*|associative) )?(in)?(?:compatible|consistent|congruent)")


class CellError(ValueError):
    """Signal a cell that can't be read; its text completes the sentence "this row …"."""


class UnknownModelError(CellError):
    """Signal a row of a model that is neither one of the study nor named with its provider."""

    def __init__(self, what: str, model: str) -> None:
        super().__init__(what)
        self.model = model


class MissingAnswerError(CellError):
    """Signal a row without an answer: it is neither wrong nor a refusal, and is counted by itself."""


class OtherRowError(CellError):
    """Signal a row that is of no trial: instructions, a pause, a head of a table."""


_MISSING = ("", "NA", "<NA>", "NaN", "nan", "#N/A")
"""How R, pandas and spreadsheets write that there is no value."""


def is_missing(value: Any) -> bool:
    """Return True for a cell without an answer, as R, pandas and spreadsheets write one."""
    return value is None or value != value or (isinstance(value, str) and value.strip() in _MISSING)


def composed(text: str) -> str:
    """Return text in the Unicode form in which texts are compared (NFC): a letter typed as two characters is one."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def matching_name(value: str, known: Iterable[str]) -> str | None:
    """Return the name that is meant: the same one, or the only one that differs in capitals, or in what is between
    its words (R makes "pro.tea" of "pro-tea"). None if there is none, or several are as near.
    """
    known = list(known)
    for form in (composed, _without_case, _words_of):
        alike = [name for name in known if form(name) == form(value)]
        if alike:
            return alike[0] if len(alike) == 1 else None
    return None


def _without_case(name: str) -> str:
    return composed(composed(name).casefold())


def _words_of(name: str) -> str:
    return re.sub(r"[\W_]+", " ", _without_case(name)).strip()


def text(value: Any) -> str | None:
    """Return text as the file has it, untrimmed; None (no cell, null, NaN) stays unknown. A whole number has no
    decimals."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (dict, list, bytes)):
        raise CellError(f"{shown(value)} must be a text")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return None if value != value else str(value)


def word(value: Any) -> str:
    """Return a name or a number as text without white space around it; '' where there is none."""
    return "" if value is None else str(value).strip()


def is_empty(value: Any) -> bool:
    """Return True for a cell that says "unknown": empty, null, R's NA, or a number that is none (NaN)."""
    if isinstance(value, str):  # nearly every cell, and a million rows have twenty each
        return value.strip() in ("", "NA")
    return value is None or (isinstance(value, float) and value != value) or word(value) in ("", "NA")


def shown(value: Any) -> str:
    """Return a cell's content in quotes, short enough for a message."""
    text = " ".join(str(value).split())
    return f'"{text[:57]}…"' if len(text) > 60 else f'"{text}"'


def whole_number(value: Any, name: str, least: int = 0, most: int = _MOST_TOKENS) -> int:
    """Return a whole number, also as 123.0 or 1e+05 (pandas and R write them so). Raises CellError for anything
    else.
    """
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < _DIGITS:
        whole = int(value)
        if least <= whole <= most:
            return whole
    number = Decimal(word(value)) if _NUMBER.fullmatch(word(value)) else Decimal("0.5")
    if number.adjusted() <= 18 and number != number.to_integral_value():
        raise CellError(f"{name} must be a whole number, but is {shown(value)}")
    if not least <= number <= most:
        rule = "can't be negative" if number < 0 <= least else f"must lie between {least} and {most:,}"
        raise CellError(f"{name} {rule}, but is {shown(value)}")
    return int(number)


def count(value: Any, name: str) -> int | None:
    """Return a count of tokens; None (unknown, never 0) for an empty cell."""
    if value is None:
        return None
    if type(value) is str and value.isdecimal() and value.isascii() and len(value) < _DIGITS:  # nearly every one
        return int(value)
    return None if is_empty(value) else whole_number(value, name)


def number(value: Any, name: str, rule: str = "a number", low: float = -inf, high: float = inf) -> float:
    """Return a finite number in these limits. Raises CellError for anything else."""
    parsed = float(word(value)) if _NUMBER.fullmatch(word(value)) else inf
    if not isfinite(parsed) or not low <= parsed <= high:
        raise CellError(f"{name} must be {rule}, but is {shown(value)}")
    return parsed


def amount(value: Any, name: str) -> float | None:
    """Return a number that is not negative, with decimals; None for an empty cell."""
    return None if is_empty(value) else number(value, name, "a number that is not negative", low=0)


def logprob(value: Any, name: str) -> float | None:
    """Return the natural logarithm of a probability: 0 or less; None for an empty cell."""
    return None if is_empty(value) else number(value, name, "the logarithm of a probability, so 0 or less", high=0)


_TRUTHS = {"true": True, "1": True, "yes": True, "1.0": True, "false": False, "0": False, "no": False, "0.0": False}


def truth(value: Any, name: str) -> bool | None:
    """Return True or false, as tools write it; None for an empty cell."""
    if is_empty(value):
        return None
    if (said := _TRUTHS.get(word(value).lower())) is None:
        raise CellError(f"{name} must be true or false, but is {shown(value)}")
    return said


_EPOCH_S = (10**8, 10**10)
"""Seconds from 1970 of the years 1973 to 2286; ten to the thirteenth are milliseconds."""


def moment(value: Any, name: str) -> str | None:
    """Return a time as the journal has it (ISO 8601 in UTC, without a suffix); None for an empty cell. A time without a
    zone is taken for UTC; a number is seconds or milliseconds from 1970."""
    if is_empty(value):
        return None
    said = word(value)
    try:
        if _NUMBER.fullmatch(said):
            seconds = float(said) / (1000 if float(said) >= _EPOCH_S[1] else 1)
            if not _EPOCH_S[0] <= seconds < _EPOCH_S[1]:
                raise ValueError
            at = datetime.fromtimestamp(seconds, UTC)
        else:
            at = value if isinstance(value, datetime) else datetime.fromisoformat(said)
        at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        raise CellError(f"{name} must be a time as in 2026-05-01T14:30:00Z, but is {shown(value)}") from None
    return at.replace(tzinfo=None).isoformat(timespec="microseconds")


def factors_in(cell: Any) -> dict[str, Any] | None:
    """Return an exported row's factors, a JSON object; None for an empty cell."""
    if is_empty(cell):
        return None
    factors = json_or(cell) if isinstance(cell, str) else cell
    if not isinstance(factors, dict):
        raise CellError(f"factors must be a JSON object, but is {shown(cell)}")
    return factors


def condition(value: Any, known: tuple[str, ...]) -> str:
    """Return the study's condition: its own id, or another of the words that papers use for compatible and
    incompatible.

    Case, hyphens and blanks don't matter: `Stereotype-Inconsistent`, `association compatible`, `INCONGRUENT`.
    """
    named = matching_name(word(value), known)
    if named is not None:
        return named
    meant = _CONDITION.fullmatch(_words_of(word(value)))
    alike = [
        name for name in known if meant and (match := _CONDITION.fullmatch(_words_of(name))) and match[1] == meant[1]
    ]
    if len(alike) != 1:
        raise CellError(f"condition must be one of {', '.join(known)}, but is {shown(value)}")
    return alike[0]


def one_line(value: Any) -> str:
    """Return text with all white space collapsed: how two copies of one wording are compared."""
    return " ".join(str(value).split())
