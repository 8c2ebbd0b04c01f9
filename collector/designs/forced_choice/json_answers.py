"""Finds JSON answers inside of whatever a model writes around them: code fences, prose before and after."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

KEYS = ("answer", "final_answer", "choice", "chosen", "option", "selection", "selected", "selected_option", "response",
        "label", "result")  # fmt: skip
"""Keys under which an answer is looked for, in any case; an object with one key only may call it what it likes."""

MOST_TRIES = 200
"""Beginnings of an object that can't be read; a text with more of them is not worth the time."""
_ATTEMPT = re.compile(r"[\"'“”]\s*(?:final_)?answer\s*[\"'“”]\s*:|\{\s*[\\\"'“”]*\s*answer\b", re.IGNORECASE)
_OBJECT = re.compile(r"\{(?=\s*[\"}])")
_DEEPEST = 5


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """A value given as the answer, and the part of the text that its object takes. `is_named`: under a key that asks
    for one."""

    value: Any
    start: int
    end: int
    is_named: bool


def answers_in_json(text: str) -> tuple[list[JsonAnswer], bool]:
    """Every answer that stands in a JSON object, and whether there is JSON with an answer that can't be read."""
    answers: list[JsonAnswer] = []
    rest: list[str] = []
    end = 0
    for start, stop, pairs in _objects(text):
        answers += [JsonAnswer(value, start, stop, named) for value, named in _values(pairs)]
        rest.append(text[end:start])
        end = stop
    return answers, any(_ATTEMPT.search(part) for part in (*rest, text[end:]))


def _objects(text: str) -> Iterator[tuple[int, int, list[Any]]]:
    """(start, end, pairs) of each outermost object that can be read, in order."""
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs)
    place = tries = 0
    while tries < MOST_TRIES and (start := _OBJECT.search(text, place)):
        try:
            value, place = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            place, tries = start.end(), tries + 1
            continue
        yield start.start(), place, value


class _Pairs(list[Any]):
    """An object as its pairs: one that gives a key twice must not pass for one that gives it once."""


def _values(pairs: list[Any], depth: int = 0) -> Iterator[tuple[Any, bool]]:
    if not isinstance(pairs, _Pairs) or depth > _DEEPEST:
        return
    named = [value for key, value in pairs if str(key).strip().casefold() in KEYS]
    for value in named or ([pairs[0][1]] if len(pairs) == 1 else []):
        if isinstance(value, _Pairs):
            yield from _values(value, depth + 1)
        else:
            yield value, bool(named)
