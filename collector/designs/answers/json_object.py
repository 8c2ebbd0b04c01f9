"""Read answers that are a JSON object: one object, each key once, whatever prose or fence surrounds it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from slant.collector.designs.answers.plain import LONGEST_READ, AnswerReading, spoken
from slant.collector.designs.labels.spelling import folded

_MAX_DIGITS = 30
_KEY = re.compile(r"[\s_-]+")
_BEGUN = re.compile(r"\{\s*[\"}]")
"""Match where an object begins, but not a brace in prose or TeX."""


_THREE_DECIMALS = re.compile(r"-?\d{1,3}\.\d{3}")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


class BrokenObject(ValueError):
    """Signal that an answer begins an unreadable object: it is cut off, nested too deeply, or repeats a key."""


def read_value(answer: str, key: str, lacking: str, read_text: Callable[[str], AnswerReading]) -> AnswerReading:
    """Return the reading of one value: that under `key` if the answer is an object, else of the whole text. `lacking`
    is the detail of a value that is not a single one.
    """
    answer = spoken(answer)
    if len(answer) > LONGEST_READ:
        return AnswerReading("malformed", detail="too_long")
    try:
        if (found := object_in(answer)) is not None:
            value = value_of(found, key)
            while isinstance(value, dict):  # {"response": {"rating": 5}}
                value = value_of(value, key)
            given = as_answer(value)
            return AnswerReading("malformed", detail=lacking) if given is None else read_text(given)
    except BrokenObject as broken:
        return AnswerReading("malformed", detail=str(broken))
    except KeyError:
        return AnswerReading("malformed", detail="key_missing")
    return read_text(answer)


def object_in(answer: str) -> Mapping[str, Any] | None:
    """Return the one object of an answer; None if there is none. BrokenObject if there are several, or a broken one."""
    begun = _BEGUN.search(answer) if len(answer) <= LONGEST_READ else None
    if begun is None:
        return None
    try:
        value, end = _DECODER.raw_decode(answer, begun.start())
    except (ValueError, RecursionError):
        if (mended := _TRAILING_COMMA.sub(r"\1", answer)) != answer:
            return object_in(mended)
        raise BrokenObject("broken_json") from None
    if (another := _BEGUN.search(answer, end)) and not another[0].endswith("}"):
        raise BrokenObject("several_objects")
    return value if isinstance(value, dict) else None


def value_of(found: Mapping[str, Any], key: str, *, is_only: bool = True) -> Any:
    """Return the value under this key, however it is spelled (`Rating` for `rating`); if `is_only`, that of an object's
    only key. KeyError if there is none; BrokenObject if the key occurs in two spellings."""
    spelled = [value for name, value in found.items() if _same(name) == _same(key)]
    if len(spelled) > 1:
        raise BrokenObject("key_twice")
    if spelled:
        return spelled[0]
    if is_only and len(found) == 1:
        return next(iter(found.values()))
    raise KeyError(key)


def as_answer(value: Any) -> str | None:
    """Return a value of an object as the text that a person would have answered; None if it is not a single value."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return exact_text(value)
    return value if isinstance(value, str) else None


def exact_text(number: float) -> str:
    """Return a number as a text that can be read in one way: 3.142, whose mark could be one of thousands, is 3.1420."""
    text = str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    return f"{text}0" if _THREE_DECIMALS.fullmatch(text) else text


def _same(name: str) -> str:
    return _KEY.sub(" ", folded(name)).strip()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise BrokenObject("key_twice")
    return dict(pairs)


def _whole(digits: str) -> int | float:
    """Return a whole number; one with too many digits is never a valid value, and takes long to read."""
    return int(digits) if len(digits) <= _MAX_DIGITS else float("inf")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_int=_whole, strict=False)
