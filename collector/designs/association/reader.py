"""Reads answers as models write them: an option chosen, a refusal, or neither.

This is our own, finer reading. The paper's (anything but the exact label is a refusal) is a view over the raw answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache

from slant.collector.designs.refusals import REFUSAL
from slant.collector.records import Reading, Reply

_WRAPPING = " \t\r\n\"'`*_.,;:!?()[]{}<>#“”‘’«»"
# no two neighbouring parts match the same characters: an answer of nothing but blanks must not take minutes
_BOXED = re.compile(r"\\boxed ?\{(?:\\text ?\{)?([^{}]*)\}")
_FENCE = re.compile(r"```(?:[a-zA-Z]+\b)?(.*?)```", re.DOTALL)


def read_answer(reply: Reply, options: tuple[str, str]) -> Reading:
    """The outcome of a reply and the option chosen, in the study's spelling.

    A provider's own outcome wins. Then: the label alone, or alone on the first line (in any case, in quotes,
    bold, JSON or \\boxed{}); a refusal in so many words; exactly one label inside a sentence. All else is malformed.
    """
    if reply.outcome is not None and reply.outcome != "answered":
        return Reading(reply.outcome)
    answer = (reply.answer or "").replace("’", "'").replace("\x00", "")
    choice = _label_alone(answer, options)
    if choice is None and REFUSAL.search(answer):
        return Reading("refused")
    choice = choice or _label_inside(answer, options)
    return Reading("answered", choice) if choice else Reading("malformed")


def _label_alone(answer: str, options: tuple[str, str]) -> str | None:
    for text in _places_of_a_label(answer):
        bare = _bare(text)
        for option in options:
            if bare and bare == _bare_option(option):
                return option
    return None


def _bare(text: str) -> str:
    return text.strip(_WRAPPING).casefold()


_bare_option = lru_cache(1024)(_bare)  # a study has a few, and asks them by the thousand


def _places_of_a_label(answer: str) -> Iterator[str]:
    yield answer  # nearly every answer is the label and nothing else
    yield answer.strip().partition("\n")[0]
    yield from (*_FENCE.findall(answer), *_BOXED.findall(answer)[-1:], *_json_values(answer))


def _json_values(answer: str) -> list[str]:
    """The text of a JSON object with one value (`{"cat": "pleasant"}`) or of a list with one text; else nothing."""
    if len(answer) > 10_000 or not answer.strip().startswith(("{", "[", "`")):
        return []
    try:
        value = json.loads(_FENCE.sub(r"\1", answer))
    except (ValueError, RecursionError):
        return []
    values = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return values if len(values) == 1 and isinstance(values[0], str) else []


def _label_inside(answer: str, options: tuple[str, str]) -> str | None:
    mentioned = [option for option in options if option and _mentions(answer, option)]
    return mentioned[0] if len(mentioned) == 1 else None


def _mentions(answer: str, option: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(option)}(?!\w)", answer, re.IGNORECASE) is not None
